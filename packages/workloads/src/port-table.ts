/**
 * Which TCP ports of this machine are taken, and by which process: `/proc/net/tcp` and the sockets in `/proc/PID/fd`.
 *
 * Worked example, a line of /proc/net/tcp: local address and port in hexadecimal, state 0A (listening), the inode.
 *
 *   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  0  0 48211 …
 *      127.0.0.1:8080              └ listens                                       └ /proc/PID/fd/7 -> socket:[48211]
 *
 * Where there is no `/proc`, a port is tried by listening on it: the holder then has no name.
 */
import { readdirSync, readlinkSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { PortHolder, ProcessEntry } from './process-host.ts'

const listening = '0A'

/** A socket that listens. */
export interface Listener {
  readonly port: number
  readonly inode: string
}

/** The port and the inode of every listening socket; undefined without a table. The kernel takes milliseconds to write it. */
export async function readListeners(): Promise<readonly Listener[] | undefined> {
  const tables = await Promise.all(['/proc/net/tcp', '/proc/net/tcp6'].map(readText))
  const known = tables.filter((table) => table !== undefined)
  return known.length === 0 ? undefined : known.flatMap(parseListeners)
}

function parseListeners(table: string): readonly Listener[] {
  return table
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const fields = line.trim().split(/\s+/)
      const [, local = '', , state] = fields
      const inode = fields[9]
      return state === listening && inode !== undefined
        ? [{ port: Number.parseInt(local.slice(local.lastIndexOf(':') + 1), 16), inode }]
        : []
    })
}

/** Of these ports those that are taken. `find` names a process by its pid. */
export async function findHolders(
  ports: readonly number[],
  listeners: readonly Listener[] | undefined,
  find: (pid: number) => ProcessEntry | undefined,
): Promise<readonly PortHolder[]> {
  if (!listeners) return triedPorts(ports)
  const wanted = new Set(ports)
  const taken = new Map(listeners.filter(({ port }) => wanted.has(port)).map(({ port, inode }) => [port, inode]))
  if (taken.size === 0) return []
  const owners = ownersOf(new Set(taken.values()))
  return [...taken].map(([port, inode]) => {
    const pid = owners.get(inode)
    const command = pid === undefined ? undefined : find(pid)?.command
    return { port, ...(pid !== undefined && { pid }), ...(command !== undefined && { command }) }
  })
}

/** The pids that have these sockets open. */
function ownersOf(inodes: ReadonlySet<string>): ReadonlyMap<string, number> {
  const owners = new Map<string, number>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    for (const descriptor of readFolder(`/proc/${name}/fd`)) {
      const inode = /^socket:\[(\d+)\]$/.exec(readLink(`/proc/${name}/fd/${descriptor}`))?.[1]
      if (inode !== undefined && inodes.has(inode)) owners.set(inode, Number(name))
    }
    if (owners.size === inodes.size) break
  }
  return owners
}

/** The ports on which nothing can listen now. */
async function triedPorts(ports: readonly number[]): Promise<readonly PortHolder[]> {
  const isTaken = (port: number): Promise<boolean> =>
    new Promise((resolve) => {
      const server = createServer()
      server.once('error', () => {
        resolve(true)
      })
      server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
        server.close(() => {
          resolve(false)
        })
      })
    })
  const taken = await Promise.all(ports.map(isTaken))
  return ports.filter((_, index) => taken[index]).map((port) => ({ port }))
}

function readText(path: string): Promise<string | undefined> {
  return readFile(path, 'latin1').catch(() => undefined)
}

function readFolder(path: string): readonly string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}

function readLink(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}
