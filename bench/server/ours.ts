/**
 * Our server as `npm start` runs it: the built package in a separate process, on a file store, over TLS.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Address } from './load/jobs.ts'

const command = fileURLToPath(new URL('../../packages/evenkeel/bin/evenkeel.mjs', import.meta.url))
/** The port of `npm start`. */
const serveFlags = ['--max-semi-space-size=64']
const readyMsMax = 30_000

export interface Ours {
  readonly address: Address
  readonly processId: number
  /** From the start of the process to the line that reports ready. */
  readonly startMs: number
  stop(): Promise<void>
}

interface Ready {
  readonly url: string
  readonly kubeconfig: string
}

export async function startOurs(folder: string): Promise<Ours> {
  const startedAt = performance.now()
  const child = spawn(process.execPath, [...serveFlags, command, 'serve', '--data', folder, '--port', '0', '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
    await exited
  }
  try {
    const { url, kubeconfig } = JSON.parse(await firstLine(child.stdout)) as Ready
    const startMs = performance.now() - startedAt
    const text = readFileSync(kubeconfig, 'utf8')
    const token = /token: "([^"]+)"/.exec(text)?.[1] ?? ''
    const caPem = Buffer.from(/certificate-authority-data: (\S+)/.exec(text)?.[1] ?? '', 'base64').toString()
    const address = { url, token, caPem }
    return { address, processId: child.pid ?? NaN, startMs, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function firstLine(output: NodeJS.ReadableStream): Promise<string> {
  const lines = createInterface({ input: output })
  const tooLate = setTimeout(() => {
    lines.close()
  }, readyMsMax)
  try {
    for await (const line of lines) return line
  } finally {
    clearTimeout(tooLate)
    output.resume()
  }
  throw new Error('our server did not start: is the package built (npm run build)?')
}
