/**
 * Waits for the end of an operation.
 */
import { isOperationOver, Operation } from 'evenkeel/api'
import type { OperationObject } from 'evenkeel/api'
import type { Client } from 'evenkeel/client'
import { SystemClock } from 'evenkeel/unstable/base'
import { Failure } from '../frame/failure.ts'

/** A controller that runs answers in a moment; one that does not run has not said anything after this. */
const waitMs = 30_000

/** @throws {Failure} `refused` when nobody does it for half a minute. */
export async function waitForOperation(
  client: Client,
  { name, namespace }: { name: string; namespace: string },
  signal: AbortSignal,
): Promise<Pick<OperationObject, 'status'>> {
  const limit = new AbortController()
  const cancel = new SystemClock().after(waitMs, () => {
    limit.abort()
  })
  try {
    const both = AbortSignal.any([signal, limit.signal])
    const {
      items: [now],
      metadata: { resourceVersion = '' },
    } = await client.list(Operation, { namespace, fieldSelector: `metadata.name=${name}`, signal: both })
    if (!now || isOperationOver(now)) return now ?? {}
    for await (const event of client.watch(Operation, {
      namespace,
      fieldSelector: `metadata.name=${name}`,
      resourceVersion,
      signal: both,
    })) {
      if (event.type === 'DELETED') return {}
      if (event.type === 'MODIFIED' && isOperationOver(event.object)) return event.object
    }
    return {}
  } catch (error) {
    if (!limit.signal.aborted || signal.aborted) throw error
    throw new Failure('refused', `nobody did operation/${name} for ${waitMs / 1000} seconds`, {
      hint: `is its controller running? It goes on when it is: evenkeel get operation/${name} -o yaml`,
    })
  } finally {
    cancel()
  }
}
