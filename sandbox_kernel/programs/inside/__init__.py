"""Beyond the wall: the zygote, the supervisor of one program, and the guest that runs it."""
