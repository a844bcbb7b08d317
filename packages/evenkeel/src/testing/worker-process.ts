/**
 * What runs in a process of a pool: it loads the module, plays the undisturbed schedule, and then runs what it is asked to.
 */
import { loadExploreSubject } from './explore-module.ts'
import { scenarioOf } from './explore.ts'
import { Session, type ScheduleJob } from './session.ts'
import type { WorkerInit, WorkerMessage } from './workers.ts'

let session: Session | undefined

async function handle(what: WorkerInit | ScheduleJob): Promise<WorkerMessage> {
  if (!('module' in what))
    return session
      ? { type: 'done', outcome: await session.run(what) }
      : { type: 'failed', message: 'nothing is loaded yet' }
  session = await Session.open(scenarioOf(await loadExploreSubject(what.module)), what.session)
  const { hash } = session.first.trace
  return hash === what.hash
    ? { type: 'ready' }
    : { type: 'failed', message: 'the undisturbed schedule goes differently in another process' }
}

/** A rejection here is an answer too. */
process.on('message', (what) => {
  handle(what as WorkerInit | ScheduleJob)
    .catch((error: unknown): WorkerMessage => ({
      type: 'failed',
      message: error instanceof Error ? error.message : String(error),
    }))
    .then(
      (said) => {
        process.send?.(said)
      },
      () => undefined,
    )
})
// Who asked is gone.
process.on('disconnect', () => {
  process.kill(process.pid, 'SIGKILL')
})
