/**
 * A real Podman for tests: storage, configuration and socket in a folder of its own, one image made from busybox, no registry but
 * one that refuses everything.
 *
 * Invariant: what is started here is stopped by `stop`, and its folder goes with it; nothing of this machine's own Podman is used.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  copyFileSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { sleep, SystemClock } from 'evenkeel/unstable/base'

const programs = { podman: 'podman', runc: 'runc', busybox: 'busybox-static' } as const

function findProgram(name: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin']
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path))
}

function whatIsMissing(): string | undefined {
  const missing = Object.entries(programs).filter(([name]) => findProgram(name) === undefined)
  if (missing.length > 0)
    return `there is no ${missing.map(([name, pack]) => `${name} (Debian package ${pack})`).join(', no ')}`
  if (process.getuid?.() !== 0) return 'containers are tested as root only'
  if (isChroot()) return 'a runtime cannot change the root of a container in a chroot'
  const { status } = spawnSync(findProgram('busybox') ?? '', ['true'])
  return status === 0 ? undefined : 'busybox does not run'
}

/** The root of a chroot is no mount of its own, and runtimes change only such roots. */
function isChroot(): boolean {
  const file = '/proc/self/mountinfo'
  if (!existsSync(file)) return false
  const mounts = readFileSync(file, 'utf8').split('\n')
  return !mounts.some((line) => line.split(' ')[4] === '/')
}

/** Why tests with real containers are skipped; undefined when they are not. */
export const podmanMissing: string | undefined = whatIsMissing()

/** The name of a test, with the reason when it is skipped. */
export function withReason(name: string): string {
  return podmanMissing === undefined ? name : `${name} (skipped: ${podmanMissing})`
}

/** The image that every test uses. */
export const image = 'localhost/bb:1'

const links = [
  'sh',
  'sleep',
  'stty',
  'echo',
  'cat',
  'true',
  'false',
  'httpd',
  'wget',
  'kill',
  'ls',
  'env',
  'touch',
  'mkdir',
  'nslookup',
  'dd',
  'tail',
]

export interface Podman {
  readonly socketPath: string
  readonly executable: string
  /** What the executable needs to find the same storage. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Of the registry that refuses everything: `127.0.0.1:PORT`. */
  readonly registry: string
  readonly folder: string
  run(...command: readonly string[]): string
  stop(): Promise<void>
}

export async function startPodman(): Promise<Podman> {
  const folder = mkdtempSync(join(tmpdir(), 'ek-podman-'))
  const server = await startRegistry()
  const registry = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const env = writeConfiguration(folder, registry)
  const executable = findProgram('podman') ?? 'podman'
  const run = (...command: readonly string[]): string => {
    const { status, stdout, stderr } = spawnSync(executable, command, { env, encoding: 'utf8' })
    if (status !== 0) throw new Error(`podman ${command.join(' ')} ended with ${status}: ${stderr}`)
    return stdout.trim()
  }
  run('import', makeRootFolder(folder), image)
  const socketPath = join(folder, 'podman.sock')
  const service = spawn(executable, ['system', 'service', '--time=0', `unix://${socketPath}`], { env, stdio: 'ignore' })
  while (!existsSync(socketPath) && service.exitCode === null) await sleep(new SystemClock(), 10)
  const stop = async (): Promise<void> => {
    spawnSync(executable, ['rm', '--all', '--force', '--time', '0'], { env })
    spawnSync(executable, ['network', 'prune', '--force'], { env })
    await ended(service)
    server.closeAllConnections()
    server.close()
    spawnSync(executable, ['system', 'reset', '--force'], { env })
    rmSync(folder, { recursive: true, force: true })
  }
  return { socketPath, executable, env, registry, folder, run, stop }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const closed = new Promise((resolve) => child.once('close', resolve))
  child.kill('SIGKILL')
  await closed
}

/** As section 4 of any guide to containers in containers says: vfs, cgroupfs, and limits that this machine permits. */
function writeConfiguration(folder: string, registry: string): Record<string, string | undefined> {
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  mkdirSync(join(folder, 'networks'))
  return {
    PATH: `${process.env['PATH'] ?? ''}${delimiter}/usr/sbin${delimiter}/sbin`,
    HOME: folder,
    XDG_RUNTIME_DIR: folder,
    TMPDIR: folder,
    BUILDAH_ISOLATION: 'chroot',
    CONTAINERS_CONF: write(
      'containers.conf',
      `[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "runc"
tmp_dir = "${folder}/tmp"
image_parallel_copies = 1
[network]
network_backend = "netavark"
network_config_dir = "${folder}/networks"
`,
    ),
    CONTAINERS_STORAGE_CONF: write(
      'storage.conf',
      `[storage]\ndriver = "vfs"\ngraphroot = "${folder}/graph"\nrunroot = "${folder}/run"\n`,
    ),
    CONTAINERS_REGISTRIES_CONF: write(
      'registries.conf',
      `short-name-mode = "disabled"\nunqualified-search-registries = ["${registry}"]\n[[registry]]\nlocation = "${registry}"\ninsecure = true\n`,
    ),
  }
}

/** `denied/…` needs a login, everything else does not exist. */
async function startRegistry(): Promise<Server> {
  const server = createServer((request, response) => {
    const isDenied = request.url?.includes('/denied/') ?? false
    const isRoot = request.url === '/v2/'
    response.writeHead(isRoot ? 200 : isDenied ? 403 : 404, { 'content-type': 'application/json' })
    const code = isDenied ? 'DENIED' : 'MANIFEST_UNKNOWN'
    response.end(
      JSON.stringify(isRoot ? {} : { errors: [{ code, message: isDenied ? 'access denied' : 'manifest unknown' }] }),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

/** A root file system with busybox and its links, as a tar archive. */
function makeRootFolder(folder: string): string {
  const root = join(folder, 'root')
  for (const name of ['bin', 'tmp', 'etc', 'proc', 'sys', 'dev', 'data', 'www'])
    mkdirSync(join(root, name), { recursive: true })
  copyFileSync(findProgram('busybox') ?? '', join(root, 'bin/busybox'))
  for (const name of links) symlinkSync('busybox', join(root, 'bin', name))
  writeFileSync(join(root, 'www/index.html'), 'hello\n')
  const tar = join(folder, 'root.tar')
  const { status } = spawnSync('tar', ['-C', root, '-cf', tar, '.'])
  if (status !== 0) throw new Error('the root file system could not be packed')
  return tar
}
