# Skein in a container. Build the package first, then the image:
#   npm pack && podman build -t skein .        (or docker build)
FROM docker.io/library/node:26-bookworm-slim
# bubblewrap: the wall around deciders and foreign hooks; openssh-client: outposts over SSH.
RUN apt-get update \
  && apt-get install -y --no-install-recommends bubblewrap ca-certificates openssh-client \
  && rm -rf /var/lib/apt/lists/*
COPY skein-*.tgz /tmp/
# The image has a Node that is new enough: the one that comes with the package (211 MB) is not needed.
RUN npm install --global --no-audit --no-fund /tmp/skein-*.tgz \
  && rm -rf /tmp/skein-*.tgz "$(npm root --global)"/skein/node_modules/node-linux-* "$(npm root --global)"/node-linux-*
RUN mkdir /data && chown node:node /data
USER node
WORKDIR /data
VOLUME /data
# What is under way is finished first: Skein ends in good order on SIGTERM.
STOPSIGNAL SIGTERM
ENTRYPOINT ["skein"]
CMD ["watch", "--data", "/data/collection"]
