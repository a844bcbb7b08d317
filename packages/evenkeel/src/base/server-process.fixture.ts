/**
 * A server process without a server: prints the priorities of its named threads.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { SystemClock } from './clock.ts'
import { tuneServerProcess } from './server-process.ts'

const end = tuneServerProcess(new SystemClock())
const priorities: Record<string, number[]> = {}
for (const id of readdirSync('/proc/self/task')) {
  const name = readFileSync(`/proc/self/task/${id}/comm`, 'utf8').trim().replace('node-', '')
  if (name === 'MainThread' || name === 'V8Worker') (priorities[name] ??= []).push(getPriority(Number(id)))
}
end()
process.stdout.write(JSON.stringify(priorities))
