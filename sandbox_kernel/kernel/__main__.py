from .app import launch

launch()
