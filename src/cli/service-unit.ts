/** A systemd unit that keeps a collection fresh: what it runs, and what it may not do. */

interface ServiceWanted {
  /** Of the unit, without `.service`. */
  readonly name: string;
  /** Node, Skein, and what it is to do. */
  readonly command: readonly string[];
  /** The collection: the only place that it may write to. Absolute. */
  readonly data: string;
  /** Number of the user that it runs as; undefined = a unit of the user's own manager, which has one. */
  readonly user?: number | undefined;
}

/**
 * No MemoryDenyWriteExecute: Node compiles as it runs. No PrivateTmp where the collection is in /tmp: the unit would not see it. No RestrictNamespaces: deciders run in cages made of them. It is
 * stopped like by Ctrl-C and given time to finish what is under way.
 */
export function serviceUnit({ name, command, data, user }: ServiceWanted): string {
  const system = user !== undefined;
  return `[Unit]
Description=Skein (${name})
${system ? 'Wants=network-online.target\nAfter=network-online.target\n' : ''}
[Service]
Type=exec
ExecStart=${command.map(quoted).join(' ')}
WorkingDirectory=${path(data)}
${system ? `User=${user}\n` : ''}KillSignal=SIGINT
TimeoutStopSec=300
SuccessExitStatus=130
Restart=on-failure
RestartSec=30
UMask=0077
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=read-only
ReadWritePaths=${path(data)}
${data.startsWith('/tmp/') || data.startsWith('/var/tmp/') ? '' : 'PrivateTmp=yes\n'}PrivateDevices=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectClock=yes
ProtectHostname=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
CapabilityBoundingSet=
SystemCallArchitectures=native

[Install]
WantedBy=${system ? 'multi-user' : 'default'}.target
`;
}

/** One word of a command line, as systemd reads it. */
function quoted(word: string): string {
  return `"${word.replace(/[\\"]/g, '\\$&').replaceAll('%', '%%').replaceAll('$', '$$$$')}"`;
}

/** A path of a setting that takes one: specifiers are escaped, blanks by their number. */
function path(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('%', '%%').replaceAll(' ', '\\x20');
}
