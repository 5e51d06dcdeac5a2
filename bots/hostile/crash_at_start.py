#!/usr/bin/env python3
"""Exits with status 7 before it says anything. A referee calls `exited` at once, and waits for no start-up limit."""

import sys

sys.exit(7)
