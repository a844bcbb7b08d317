/**
 * The demo on a test plane, with its page, as `evenkeel up` runs it.
 */
import { startTestPlane } from 'evenkeel/testing'
import type { TestPlane } from 'evenkeel/testing'
import { ExternalRef, ExternalSweep } from 'evenkeel/verbs'
import { Demo } from './demo.ts'
import { Shape } from './kinds.ts'
import { servePage } from './page/serve-page.ts'
import type { PageState } from './page/serve-page.ts'
import { ShapesInMemory } from './service/shapes-in-memory.ts'

export interface RunningDemo {
  readonly plane: TestPlane
  readonly demo: Demo
  readonly service: ShapesInMemory
  readonly url: string
  state(): Promise<PageState>
  /** Presses a button; the status and the reason of a refusal. */
  press(name: string): Promise<{ status: number; error?: string }>
  /** Waits until the state is as expected. */
  until(holds: (state: PageState) => boolean): Promise<void>
  stop(): Promise<void>
}

export async function startDemo(): Promise<RunningDemo> {
  const stopping = new AbortController()
  const plane = await startTestPlane({ kinds: [Shape, ExternalRef, ExternalSweep] })
  const service = new ShapesInMemory()
  const { url, show } = await servePage({ service, port: 0, signal: stopping.signal })
  const demo = new Demo({ client: plane.client, transport: plane.plane.transport, service, url })
  show(demo, { client: plane.client })
  demo.start()
  const state = async (): Promise<PageState> => (await (await fetch(`${url}/state`)).json()) as PageState
  return {
    plane,
    demo,
    service,
    url,
    state,
    async press(name) {
      const response = await fetch(`${url}/do/${name}`, { method: 'POST' })
      return { status: response.status, ...((await response.json()) as { error?: string }) }
    },
    until: (holds) => plane.until(async () => holds(await state()), { timeoutMs: 30_000 }),
    async stop() {
      await demo.stop()
      stopping.abort()
      await plane.stop()
    },
  }
}
