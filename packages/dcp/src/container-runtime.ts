/**
 * Which container runtime this machine has, and whether it runs.
 *
 * The commands of Docker and Podman are asked; nothing is started. A command that hangs, as one whose daemon is asleep,
 * is given up after a time.
 */
import { execFile } from 'node:child_process'

/** In the words of `dcp info`. */
interface RuntimeStatus {
  readonly runtime: string
  /** The name of this machine inside of a container. */
  readonly hostName: string
  readonly installed: boolean
  readonly running: boolean
  readonly error?: string
}

const hostNames = { docker: 'host.docker.internal', podman: 'host.containers.internal' } as const

export type RuntimeName = keyof typeof hostNames

export const runtimeNames = Object.keys(hostNames) as readonly RuntimeName[]

export function isRuntimeName(name: string): name is RuntimeName {
  return name in hostNames
}

interface DetectOptions {
  /** The only one to ask. @default all; of several the first that runs */
  readonly wanted?: RuntimeName | undefined
  readonly timeoutMs: number
}

export async function detectRuntime({ wanted, timeoutMs }: DetectOptions): Promise<RuntimeStatus> {
  const asked = wanted === undefined ? runtimeNames : [wanted]
  const found = await Promise.all(asked.map((name) => statusOf(name, timeoutMs)))
  const best = found.find(({ running }) => running) ?? found.find(({ installed }) => installed) ?? found[0]
  if (best) return best
  return { runtime: '', hostName: '', installed: false, running: false, error: 'no container runtime was asked' }
}

async function statusOf(name: RuntimeName, timeoutMs: number): Promise<RuntimeStatus> {
  const status = { runtime: name, hostName: hostNames[name] }
  const error = await ask(name, ['container', 'ls', '--last', '1', '--quiet'], timeoutMs)
  if (!error) return { ...status, installed: true, running: true }
  const isInstalled = error.code !== 'ENOENT'
  const reason = isInstalled ? error.message.trim() : `the command ${name} was not found`
  return { ...status, installed: isInstalled, running: false, error: reason }
}

interface CommandError {
  readonly code?: unknown
  readonly message: string
}

function ask(command: string, words: readonly string[], timeoutMs: number): Promise<CommandError | undefined> {
  return new Promise((resolve) => {
    execFile(command, words, { timeout: timeoutMs, killSignal: 'SIGKILL' }, (error, _, stderr) => {
      resolve(error ? { code: error.code, message: stderr === '' ? error.message : stderr } : undefined)
    })
  })
}
