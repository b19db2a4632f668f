"""Findings in words and pictures. Everything here is made from saved audits alone, so any audit can
be shown again.
"""
