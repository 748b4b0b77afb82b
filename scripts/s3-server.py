#!/usr/bin/python3
"""A real S3 for tests on loopback: OpenStack Swift with its s3api, all of its servers in this one process.

    scripts/install-debian.sh python3-swift
    scripts/s3-server.py DIRECTORY

It keeps everything below DIRECTORY, listens on a free port of 127.0.0.1 and prints one line of JSON: the endpoint, a key
with its secret, and the address of Swift's own interface (by which a test gives a container a quota). It ends with the
process that started it, when its standard input does.
"""
import eventlet

eventlet.monkey_patch()

import json
import os
import sys

from eventlet import listen, wsgi

KEY, SECRET = "tests:alice", "wonderland"
ROOT = os.path.abspath(sys.argv[1])
STORES = ("account", "container", "object")


def write(name, lines):
    with open(os.path.join(ROOT, name), "w") as file:
        file.write("\n".join(lines) + "\n")


def section(title, **values):
    return ["[%s]" % title] + ["%s = %s" % pair for pair in values.items()]


def filters(names, **more):
    lines = []
    for name in names:
        lines += section("filter:" + name, use="egg:swift#" + name, **more.get(name, {}))
    return lines


os.makedirs(os.path.join(ROOT, "devices", "disk"), exist_ok=True)
write("swift.conf", section("swift-hash", swift_hash_path_prefix="a", swift_hash_path_suffix="z")
      + section("storage-policy:0", name="only", default="yes"))

# Swift reads where its files are when its modules are loaded.
from swift.common import utils

utils.set_swift_dir(ROOT)
from swift.common import storage_policy
from swift.common import wsgi as swift_wsgi
from swift.common.ring import RingBuilder

storage_policy.reload_storage_policies()

common = section("DEFAULT", swift_dir=ROOT, devices=os.path.join(ROOT, "devices"), mount_check="false",
                 log_level="CRITICAL", recon_cache_path=ROOT)
sockets = {}
for store in STORES:
    sockets[store] = listen(("127.0.0.1", 0))
    port = sockets[store].getsockname()[1]
    ring = RingBuilder(2, 1, 0)
    ring.add_dev({"id": 0, "region": 1, "zone": 1, "device": "disk", "weight": 1, "meta": "", "ip": "127.0.0.1",
                  "port": port, "replication_ip": "127.0.0.1", "replication_port": port})
    ring.rebalance()
    ring.get_ring().save(os.path.join(ROOT, store + ".ring.gz"))
    write(store + ".conf", common + section("pipeline:main", pipeline=store + "-server")
          + section("app:%s-server" % store, use="egg:swift#" + store))

account, user = KEY.split(":")
order = ["catch_errors", "gatekeeper", "s3api", "tempauth", "bulk", "container_quotas", "slo"]
write("proxy.conf", common
      + section("pipeline:main", pipeline=" ".join(order + ["proxy-server"]))
      + section("app:proxy-server", use="egg:swift#proxy", account_autocreate="true")
      + filters(order, tempauth={"user_%s_%s" % (account, user): SECRET + " .admin"}, s3api={"s3_acl": "false"}))


class Cache(dict):
    """What tempauth wants of memcached."""

    def __bool__(self):
        return True

    def get(self, key, *_, **__):
        return dict.get(self, key)

    def set(self, key, value, *_, **__):
        self[key] = value

    def delete(self, key, *_, **__):
        self.pop(key, None)

    def incr(self, key, delta=1, *_, **__):
        self[key] = int(dict.get(self, key) or 0) + delta
        return self[key]


cache = Cache()


def serve(socket, name):
    inner = swift_wsgi.loadapp(os.path.join(ROOT, name + ".conf"))

    def outer(environment, start):
        environment["swift.cache"] = cache
        return inner(environment, start)

    log = open(os.devnull, "w")
    return eventlet.spawn(wsgi.server, socket, outer, log, capitalize_response_headers=False,
                          protocol=swift_wsgi.SwiftHttpProtocol)


for store in STORES:
    serve(sockets[store], store)
front = listen(("127.0.0.1", 0))
serve(front, "proxy")
endpoint = "http://127.0.0.1:%d" % front.getsockname()[1]
print(json.dumps({"endpoint": endpoint, "key": KEY, "secret": SECRET, "auth": endpoint + "/auth/v1.0"}), flush=True)
eventlet.tpool.execute(sys.stdin.read)
os._exit(0)
