/**
 * What runs in a process of a pool: it loads the module, plays the undisturbed schedule, and then runs what it is asked to.
 */
import { scenarioOf } from '../explore.ts'
import { Session } from '../session.ts'
import type { Job } from '../session.ts'
import { loadSubject } from './module.ts'
import type { Opening, Said } from './pool.ts'

let session: Session | undefined

async function heard(what: Opening | Job): Promise<Said> {
  if (!('module' in what))
    return session
      ? { type: 'done', outcome: await session.run(what) }
      : { type: 'failed', message: 'nothing is loaded yet' }
  session = await Session.open(scenarioOf(await loadSubject(what.module)), what.session)
  const { hash } = session.first.trace
  return hash === what.hash
    ? { type: 'ready' }
    : { type: 'failed', message: 'the undisturbed schedule goes differently in another process' }
}

/** A rejection here is an answer too. */
process.on('message', (what) => {
  heard(what as Opening | Job)
    .catch((error: unknown): Said => ({
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
