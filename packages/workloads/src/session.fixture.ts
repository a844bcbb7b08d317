/**
 * A session alone that can be killed, at points that a whole Evenkeel passes too fast: `node FILE FOLDER`.
 *
 * Starts three programs, then stops and starts one of them again and again, and writes a word per step to stdout, so that a
 * test can kill it at any point. Its session file is FOLDER/workloads/session.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { randomUuid, SystemClock, SystemRandom } from 'evenkeel/unstable/base'
import { OsFiles } from './files.ts'
import { OsProcessHost } from './os-host.ts'
import { markedProgram } from './marked-program.fixture.ts'
import { ProcTable } from './process-table.ts'
import { Session } from './session.ts'
import { startWatchdog } from './watchdog.ts'

const [folder = ''] = process.argv.slice(2)
mkdirSync(join(folder, 'workloads'), { recursive: true })
const table = new ProcTable()
const clock = new SystemClock()
const session = new Session({
  host: new OsProcessHost({ table, clock }),
  files: new OsFiles(),
  clock,
  folder: join(folder, 'workloads'),
  name: randomUuid(new SystemRandom()).slice(0, 8),
  self: { pid: process.pid, startTicks: table.startTicks(process.pid) ?? 0, bootId: table.bootId() },
  startWatchdog: (options) => startWatchdog({ table, ...options }),
})

const say = (word: string): void => {
  process.stdout.write(`${word}\n`)
}

async function start(name: string): Promise<void> {
  const last = session.runOf(name)
  say(`start ${name}`)
  await session.start(
    {
      owner: { uid: name, namespace: 'default', name },
      lifetime: 'session',
      command: ['/bin/sh', '-c', markedProgram({ folder, name })],
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '' },
      fingerprint: '',
      cause: 'a test',
      failures: 0,
      restarts: 0,
      ports: [],
      variables: [],
    },
    { number: (last?.number ?? 0) + 1 },
  )
  say(`started ${name}`)
}

async function stop(name: string): Promise<void> {
  say(`stop ${name}`)
  for (;;) {
    const step = await session.end(name, { signal: 'SIGTERM', graceMs: 50, reason: 'Stopped' })
    if (step.isOver) break
    await new Promise<void>((resolve) => {
      clock.after(Math.min(step.afterMs, 20), resolve)
    })
  }
  say(`stopped ${name}`)
}

say(`pid ${process.pid}`)
await session.open()
say('opened')
for (const run of session.runs()) if (!run.isOver) await stop(run.owner.uid)
await start('a')
await start('b')
say('ready')
for (;;) {
  await start('c')
  await stop('c')
}
