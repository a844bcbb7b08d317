/**
 * The entry point of a worker process: loads the module, runs the undisturbed schedule, and then runs each requested schedule.
 */
import { loadExploreSubject } from './explore-module.ts'
import { scenarioOf } from './explore.ts'
import { Session, type ScheduleJob } from './session.ts'
import type { WorkerInit, WorkerMessage } from './workers.ts'

let session: Session | undefined

async function handle(request: WorkerInit | ScheduleJob): Promise<WorkerMessage> {
  if (!('module' in request))
    return session
      ? { type: 'done', outcome: await session.run(request) }
      : { type: 'failed', message: 'no module is loaded yet' }
  session = await Session.open(scenarioOf(await loadExploreSubject(request.module)), request.session)
  const { hash } = session.first.trace
  return hash === request.hash
    ? { type: 'ready' }
    : { type: 'failed', message: 'the undisturbed schedule differs between two processes' }
}

// An error is a response as well.
process.on('message', (request) => {
  handle(request as WorkerInit | ScheduleJob)
    .catch((error: unknown): WorkerMessage => ({
      type: 'failed',
      message: error instanceof Error ? error.message : String(error),
    }))
    .then(
      (response) => {
        process.send?.(response)
      },
      () => undefined,
    )
})
// The parent process is gone.
process.on('disconnect', () => {
  process.kill(process.pid, 'SIGKILL')
})
