/**
 * The entry point of a worker process: judges one program after the other.
 */
import { judge } from './judge.ts'
import type { Job } from './judge.ts'

process.on('message', (job) => {
  void judge(job as Job).then((verdict) => process.send?.(verdict))
})
// A mutant may leave a rejected promise behind; it is judged by its findings.
process.on('unhandledRejection', () => undefined)
process.on('disconnect', () => {
  process.kill(process.pid, 'SIGKILL')
})
