/**
 * This machine, in the words of those who publish programs for it: `linux-amd64`. Undefined where none are published.
 * @returns {'linux-amd64' | 'linux-arm64' | 'darwin-amd64' | 'darwin-arm64' | undefined}
 */
export function machineName() {
  const arch = { x64: /** @type {const} */ ('amd64'), arm64: /** @type {const} */ ('arm64') }[
    /** @type {'x64' | 'arm64'} */ (process.arch)
  ];
  const os = process.platform;
  return arch !== undefined && (os === 'linux' || os === 'darwin') ? `${os}-${arch}` : undefined;
}

/** Something for each machine, such as the checksum of its archive. @typedef {Record<NonNullable<ReturnType<typeof machineName>>, string>} ByMachine */
