/**
 * The process of the load generator: runs jobs and returns results until its parent ends.
 */
import { runLists, runRequests } from './closed-loop.ts'
import { runWatch } from './fan-out.ts'
import type { Answer, Job, LoadResult } from './jobs.ts'

process.on('message', ({ id, job }: { id: number; job: Job }) => {
  void answer(id, job)
})
process.on('disconnect', () => {
  process.exit(0)
})

async function answer(id: number, job: Job): Promise<void> {
  const reply = await run(job).then<Answer, Answer>(
    (result) => ({ id, result }),
    (error: unknown) => ({ id, error: error instanceof Error ? error.message : String(error) }),
  )
  process.send?.(reply)
}

function run(job: Job): Promise<LoadResult> {
  switch (job.type) {
    case 'requests':
      return runRequests(job)
    case 'list':
      return runLists(job)
    case 'watch':
      return runWatch(job)
  }
}
