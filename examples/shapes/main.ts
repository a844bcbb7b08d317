/**
 * The demo as a module for `evenkeel up`: a service that draws shapes, a page that shows them, and a controller in seven steps.
 */
import type { Client } from 'evenkeel/client'
import type { Manager, ManagerOptions } from 'evenkeel/controller'
import { ExternalRef, ExternalSweep } from 'evenkeel/verbs'
import { Demo } from './demo.ts'
import { Shape } from './kinds.ts'
import { servePage } from './page/serve-page.ts'
import { ShapesInMemory } from './service/shapes-in-memory.ts'

export const kinds = [Shape, ExternalRef, ExternalSweep]

interface Serving {
  readonly client: Client
  readonly manager: Manager
  readonly signal: AbortSignal
  /** The endpoints for a manager beside the one of `up`; `evenkeel why` reads them. */
  readonly endpointsOf: (name: string) => ManagerOptions['endpoints'] & object
}

/** The address stays the same from one start to the next, unless the port is taken. */
const usualPort = 8701

/** The demo runs the controller itself: the page stops, starts and replaces it. */
export async function serve({
  client,
  manager,
  signal,
  endpointsOf,
}: Serving): Promise<{ name: string; url: string; note?: string }[]> {
  const service = new ShapesInMemory()
  const port = Number(process.env['SHAPES_PORT'] ?? usualPort)
  const page = await servePage({ service, port, signal })
  const demo = new Demo({
    client,
    transport: manager.transport,
    service,
    url: page.url,
    endpoints: endpointsOf('shapes'),
  })
  page.show(demo, { client })
  demo.start()
  signal.addEventListener(
    'abort',
    () => {
      void demo.stop()
    },
    { once: true },
  )
  return [{ name: 'Shapes', url: page.url, ...(page.isTaken && { note: `port ${port} is taken` }) }]
}
