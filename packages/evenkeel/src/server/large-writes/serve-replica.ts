/**
 * A {@link Replica} behind a message port: it uses the store, the authorizer and the log of the other side, and serves it
 * writes. See large-writes.ts.
 */
import { createLogger, PortCalls, SystemClock, type CallPort } from '#base'
import { RemoteStore, reviveStoreError } from '#store'
import type { AuthorizationDecision } from '../authz/authorizer.ts'
import type { WebhookOptions } from '../webhooks/client.ts'
import type { LargeWrite, WorkerStart } from './large-write-thread.ts'
import { Replica } from './replica.ts'

/** Resolves when the replica is ready. */
export async function serveReplica(port: CallPort, { replica: options, resolvesServices }: WorkerStart): Promise<void> {
  const clock = new SystemClock()
  const log = createLogger({
    clock,
    level: 'debug',
    sink: ({ level, message, fields }) => {
      calls.notify('log', level, message, fields)
    },
  })
  const store = new RemoteStore(() => calls)
  const webhooks: WebhookOptions = resolvesServices
    ? { resolveService: (service) => calls.call('resolveService', service) }
    : {}
  const replica = new Replica(options, {
    store,
    clock,
    log,
    webhooks,
    webhookMetrics: {
      count: (...call) => {
        calls.notify('countWebhook', ...call)
      },
    },
    authorizer: {
      decide: (question) => calls.call<AuthorizationDecision>('authorize', question),
      // Reviews of rules are answered by the other side.
      rulesFor: () => ({ rules: [], incomplete: true, errors: [] }),
    },
  })
  const calls: PortCalls = new PortCalls(port, {
    functions: {
      ...store.functions,
      write: (request: LargeWrite) => replica.write(request),
      cancel: (id: number) => {
        replica.cancel(id)
      },
    },
    revive: reviveStoreError,
  })
  await replica.start()
  calls.notify('ready')
}
