/**
 * The webhooks of one manager, or of several, as something to run.
 */
import type { Clock, Logger } from '#base'
import { runWebhookListener } from '#webhook'
import type { WebhookSettings } from '../options.ts'
import type { Task } from './run-group.ts'

/** Ready once it listens. */
export function webhookTask(
  { webhooks, onListening, ...listener }: WebhookSettings,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): Task {
  return {
    name: 'webhooks',
    run: (signal, ready) =>
      runWebhookListener(signal, {
        ...listener,
        transport: webhooks.transport,
        clock,
        log,
        onListening(url) {
          log.info('webhooks are served', { url })
          onListening?.(url)
          ready()
        },
      }),
  }
}
