"""Settings, addresses and start-up: wires the apps together and is imported by none of them."""
