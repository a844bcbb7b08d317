/**
 * A fresh server for a suite: `evenkeel serve` in a process of its own, with a data folder that is removed at the end.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const command = fileURLToPath(new URL('../../packages/cli/bin/evenkeel.mjs', import.meta.url))

export interface JudgedServer {
  readonly kubeconfig: string
  readonly port: number
  /** For programs that find the server by their environment. */
  readonly env: Readonly<Record<string, string>>
  stop(): Promise<void>
}

/** The token that the scripts of kubectl send. */
const tokens = 'admin-token,admin,admin,"system:masters"\n'

export async function startJudgedServer({ flags = [] }: { flags?: readonly string[] } = {}): Promise<JudgedServer> {
  const folder = await mkdtemp(join(tmpdir(), 'evenkeel-judged-'))
  await writeFile(join(folder, 'tokens.csv'), tokens, { mode: 0o600 })
  const child = spawn(
    process.execPath,
    [
      command,
      'serve',
      '--data',
      join(folder, 'data'),
      '--port',
      '0',
      '--json',
      '--token-auth-file',
      join(folder, 'tokens.csv'),
      ...flags,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    }
    await rm(folder, { recursive: true, force: true })
  }
  for await (const line of createInterface({ input: child.stdout })) {
    const { url, kubeconfig } = JSON.parse(line) as { url: string; kubeconfig: string }
    child.stdout.resume()
    return { kubeconfig, port: Number(new URL(url).port), env: { KUBECONFIG: kubeconfig }, stop }
  }
  await stop()
  throw new Error('the server did not start: build the packages first, with npm run build')
}
