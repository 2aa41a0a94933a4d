"""The Jupyter kernel `sandbox`: each cell one run of `run_code`."""
