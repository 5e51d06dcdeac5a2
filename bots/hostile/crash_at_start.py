#!/usr/bin/env python3
"""Exits with status 7 before `hello`. The referee reports `exited` immediately, without waiting for a timeout."""

import sys

sys.exit(7)
