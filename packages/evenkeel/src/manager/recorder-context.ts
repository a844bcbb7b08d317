/**
 * `context.event(...)`: what a reconcile tells people about its object, under the name of its controller.
 */
import type { ContextPlugin } from '#controller'
import type { EventNote } from './recorder/event-object.ts'
import type { EventRecorder } from './recorder/event-recorder.ts'

/** The events of a run. */
export interface EventContext {
  /** Records that something happened to the object; the same again is counted. With the key alone there is nothing to record it on. */
  event(note: EventNote): void
}

export function eventPlugin(recorder: (controller: string) => EventRecorder): ContextPlugin<EventContext> {
  return {
    name: 'events',
    extend: (_, { controller, object }) => ({
      context: {
        event: (note) => {
          if (object) recorder(controller).event(object, note)
        },
      },
    }),
  }
}
