"""What spans the apps: order only. Each step is an operation of one of them."""
