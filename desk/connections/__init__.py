"""A study's connections to other programs: the webhook, its deliveries, and the way to the API."""
