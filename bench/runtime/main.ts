/**
 * The runtime: everything between the server and the code of a controller.
 */
import type { Bench } from '../print.ts'
import { eventsBench } from './events.ts'
import { latencyBench } from './latency.ts'
import { queueBench } from './queue.ts'
import { syncBench } from './sync.ts'

export const runtimeBench: Bench = {
  about:
    'cache sync and memory against the informers of client-node and client-go, the work queue, events from informer to queue, create-to-child latency',
  async run(options) {
    for (const part of [queueBench, eventsBench, latencyBench, syncBench]) await part(options)
  },
}
