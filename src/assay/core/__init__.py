"""What every room uses: errors, settings, the console, units, and what may be a credential."""
