"""Scrapy as a contender: follows every link inside the given hosts and saves each HTML body."""

import hashlib
import os
from urllib.parse import urldefrag, urlsplit

import scrapy


class BenchSpider(scrapy.Spider):
    name = "bench"

    def __init__(self, seeds="", directory=".", **options):
        super().__init__(**options)
        self.start_urls = seeds.split(",")
        self.hosts = {urlsplit(url).netloc for url in self.start_urls}
        self.directory = directory

    def parse(self, response):
        if not isinstance(response, scrapy.http.HtmlResponse):
            return
        name = hashlib.sha1(response.url.encode()).hexdigest() + ".html"
        with open(os.path.join(self.directory, name), "wb") as file:
            file.write(response.body)
        for link in response.css("a::attr(href)").getall():
            url = urldefrag(response.urljoin(link)).url
            if urlsplit(url).netloc in self.hosts:
                yield scrapy.Request(url)
