# Scrapy as its users revisit: its own cache with the policy of RFC 2616, so that known pages are asked for conditionally.
# Arguments: file of URLs, directory of the cache.
import sys

import scrapy
from scrapy.crawler import CrawlerProcess

urls = open(sys.argv[1]).read().split()


class Revisit(scrapy.Spider):
    name = "revisit"
    start_urls = urls

    def parse(self, response):
        pass


process = CrawlerProcess(
    settings={
        "HTTPCACHE_ENABLED": True,
        "HTTPCACHE_POLICY": "scrapy.extensions.httpcache.RFC2616Policy",
        "HTTPCACHE_STORAGE": "scrapy.extensions.httpcache.FilesystemCacheStorage",
        "HTTPCACHE_DIR": sys.argv[2],
        "ROBOTSTXT_OBEY": False,
        "DOWNLOAD_DELAY": 0,
        "CONCURRENT_REQUESTS": 16,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
        "LOG_LEVEL": "ERROR",
        "TELNETCONSOLE_ENABLED": False,
    }
)
process.crawl(Revisit)
process.start()
