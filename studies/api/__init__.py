"""The session API: what a worker's page, a bot or another front end says to the server."""
