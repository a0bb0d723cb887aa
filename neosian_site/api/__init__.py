"""The top floor: HTTP and nothing else. One package per contract; siblings never import each other."""
