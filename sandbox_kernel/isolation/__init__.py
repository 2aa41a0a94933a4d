"""The parts that isolation is made of; who is isolated from what is said by those who use them."""
