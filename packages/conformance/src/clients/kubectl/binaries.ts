/**
 * The kubectl binaries on this machine: the one on the path, those in `EVENKEEL_KUBECTLS` (separated by colons), and
 * an older one that CI unpacks. The same binary under two names counts once.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'

export interface Kubectl {
  readonly path: string
  /** `1.36.4` */
  readonly version: string
}

/** Where CI unpacks Debian's package, from the root of the repository. */
const unpacked = '.cache/kubernetes-client/usr/bin/kubectl'

/** Every available kubectl, each version once. */
export function findKubectls({ env = process.env }: { env?: NodeJS.ProcessEnv } = {}): Kubectl[] {
  const onPath = (env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'kubectl'))
    .find((path) => existsSync(path))
  const named = (env['EVENKEEL_KUBECTLS'] ?? '').split(delimiter)
  const paths = [onPath, ...named, resolve(unpacked)].filter(
    (path) => path !== undefined && path !== '' && existsSync(path),
  ) as string[]
  const found = new Map<string, Kubectl>()
  for (const path of new Set(paths.map((one) => realpathSync(one)))) {
    const version = versionOf(path)
    if (version !== undefined && !found.has(version)) found.set(version, { path, version })
  }
  return [...found.values()]
}

/** Whether a version is at least another: `1.36.4` is at least `1.26`. */
export function isAtLeast(version: string, other: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [otherMajor = 0, otherMinor = 0] = other.split('.').map(Number)
  return major > otherMajor || (major === otherMajor && minor >= otherMinor)
}

function versionOf(path: string): string | undefined {
  const { stdout } = spawnSync(path, ['version', '--client', '--output=json'], { encoding: 'utf8', timeout: 20_000 })
  return /"gitVersion": "v(\d+\.\d+\.\d+)/.exec(stdout ?? '')?.[1]
}
