/**
 * `npm run bench -- workloads`: processes on this machine, whole sessions beside other tools, and logs.
 */
import type { Bench } from '../print.ts'
import { measureLogs } from './logs.ts'
import { measureSessions } from './sessions.ts'
import { measureShop } from './shop.ts'

export const workloadsBench: Bench = {
  about: 'processes: sessions beside PROCESS_COMPOSE and DCP, the shop, logs in and out',
  async run(options) {
    await measureSessions(options)
    await measureShop(options)
    await measureLogs(options)
  },
}
