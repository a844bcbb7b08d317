/**
 * The thread of a {@link PlaneThread}: opens a data plane and serves it until it is asked to stop.
 */
import { parentPort } from 'node:worker_threads'
import { assert, createLogger, PortCalls, SystemClock, type PortFunctions } from '#base'
import { openDataPlane, type DataPlane } from './data-plane.ts'
import type { PlaneThreadOptions, StartFailure, ThreadActionRequest } from './plane-thread.ts'
import { serverStreams } from './thread-streams.ts'

assert(parentPort, 'plane-worker must run as a worker thread')
const port = parentPort
const clock = new SystemClock()
let opened: DataPlane | undefined
const streams: Record<string, PortFunctions[string]> = {}

const calls = new PortCalls(port, {
  functions: {
    async open({ customResources: declared, ...options }: PlaneThreadOptions) {
      const { customResources, functions } = serverStreams(declared, () => calls)
      Object.assign(streams, functions)
      try {
        opened = await openDataPlane({ ...options, customResources, clock, log })
      } catch (error) {
        return { failure: describe(error as Error) }
      }
      const { url, folder, kubeconfig, isDurable } = opened
      return { url, folder, kubeconfig, isDurable }
    },
    onAction(kind: { readonly group: string; readonly kind: string }, name: string) {
      opened?.plane.onAction(kind, name, ({ object, input, user }) =>
        calls.call('answer', {
          id: `${kind.group}/${kind.kind}/${name}`,
          request: { object, input, user },
        } satisfies ThreadActionRequest),
      )
    },
    streamChange: (id: number) => streams['streamChange']?.(id as never),
    async stop() {
      await opened?.stop()
      // The port is all that keeps this thread alive.
      clock.soon(() => {
        port.close()
      })
    },
  },
})

const log = createLogger({
  clock,
  level: 'debug',
  sink: ({ level, message, fields }) => {
    calls.notify('log', level, message, fields)
  },
})

function describe(error: Error & Partial<StartFailure>): StartFailure {
  const { name, message, stack, reason, code, port: taken } = error
  return { name, message, stack, reason, code, port: taken }
}
