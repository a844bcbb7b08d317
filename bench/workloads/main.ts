/**
 * `npm run bench -- workloads`: processes on this machine.
 */
import type { Bench } from '../print.ts'
import { measureLogs } from './logs.ts'

export const workloadsBench: Bench = {
  about: 'processes: their logs in and out',
  async run(options) {
    await measureLogs(options)
  },
}
