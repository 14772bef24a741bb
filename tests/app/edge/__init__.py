"""What each request passes: the gate, logins, guesses, proxies, threads, outages."""
