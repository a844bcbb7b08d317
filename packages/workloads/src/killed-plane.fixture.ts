/**
 * A whole Evenkeel that can be killed: `node FILE FOLDER`, with its objects and the controllers of Processes in FOLDER.
 *
 * Processes `a` and `b` run; `c` is restarted without end. It writes `pid N`, `open` when its store is open, and a line for each phase
 * that a run gets (`c Running 4`), so that a test can kill it at any of them.
 */
import { join } from 'node:path'
import { runControllers, type ControllerDeclaration } from 'evenkeel'
import { Client } from 'evenkeel/client'
import { markedProgram } from './marked-program.fixture.ts'
import { Process, type ProcessObject } from './process-kind.ts'
import { workloads } from './workloads.ts'

const [folder = ''] = process.argv.slice(2)
const say = (words: string): void => {
  process.stdout.write(`${words}\n`)
}
const keyOf = (name: string) => ({ name, namespace: 'default' })
const stopping = new AbortController()

async function createAll(client: Client): Promise<void> {
  for (const name of ['a', 'b', 'c'])
    if (!(await client.find(Process, keyOf(name))))
      await client.create(Process, {
        metadata: keyOf(name),
        spec: { shell: markedProgram({ folder, name }), stop: { gracePeriodSeconds: 0.05 } },
      } as never)
}

/** Requests a restart of `c` whenever it runs. */
async function restartForEver(client: Client): Promise<void> {
  let last = 0
  for await (const event of client.watch(Process, { namespace: 'default', signal: stopping.signal })) {
    if (event.type !== 'ADDED' && event.type !== 'MODIFIED') continue
    const { metadata, status } = event.object as ProcessObject
    const { phase = 'new', run } = status ?? {}
    const number = run?.number ?? 0
    say(`${metadata.name} ${phase} ${number}`)
    if (metadata.name !== 'c' || phase !== 'Running' || number === last) continue
    last = number
    const annotations = { 'action.evenkeel.dev/restart': `${process.pid}-${number}` }
    await client.patch(event.object as ProcessObject, { metadata: { annotations } } as never)
  }
}

say(`pid ${process.pid}`)
const work = workloads({ folder: join(folder, 'workloads'), cwd: folder })
await runControllers(stopping.signal, {
  controllers: work.controllers as readonly unknown[] as readonly ControllerDeclaration[],
  runnables: work.runnables,
  leaderElection: false,
  embedded: true,
  port: 0,
  data: join(folder, 'data'),
  onReady: async ({ manager, kinds }) => {
    const client = new Client({ transport: manager.transport, kinds })
    say('open')
    await createAll(client)
    void restartForEver(client)
  },
})
