"""Settings, addresses, start-up and backups: wires the apps together and is imported by none of them."""
