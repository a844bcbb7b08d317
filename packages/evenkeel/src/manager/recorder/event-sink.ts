/**
 * Writes one series of events to the server: creates it, or changes what is there.
 *
 * A server of the newer form does not let a note be changed; the same event in the older form does. Where we may not use
 * that one, the count alone is kept up to date.
 */
import { findCause, isAlreadyExists, isApiError, isForbidden, isNotFound } from '#api'
import type { JsonObject } from '#api'
import type { AbortOptions } from '#base'
import { refTo } from '#client'
import type { Client } from '#client'
import { encodeChange, encodeEvent, encodeNoteChange, eventKinds } from './event-object.ts'
import type { EventApi, EventSeries, Reporter } from './event-object.ts'

interface SinkOptions {
  readonly client: Client
  readonly reporter: Reporter
  readonly api: EventApi
}

/** What came of it; `later` when the server could not be reached. */
type Written = 'written' | 'rejected' | 'later'

export class EventSink {
  readonly #options: SinkOptions
  #mayReplaceNotes = true

  constructor(options: SinkOptions) {
    this.#options = options
  }

  /** @param before what the server has, if anything. Never throws; `onError` is told. */
  async write(
    series: EventSeries,
    before: EventSeries | undefined,
    { signal, onError }: AbortOptions & { onError: (error: unknown) => void },
  ): Promise<Written> {
    try {
      if (before) await this.#change(series, before, { signal })
      else await this.#create(series, { signal })
      return 'written'
    } catch (error) {
      if (!isApiError(error)) {
        onError(error)
        return 'later'
      }
      // Nobody is interested in what happens in a namespace on its way out.
      if (findCause(error, 'NamespaceTerminating') === undefined) onError(error)
      return 'rejected'
    }
  }

  async #create(series: EventSeries, options: AbortOptions): Promise<void> {
    const { client, reporter, api } = this.#options
    try {
      await client.create(eventKinds[api], encodeEvent(series, reporter, api), options)
    } catch (error) {
      // The answer to our own create was lost.
      if (!isAlreadyExists(error)) throw error
    }
  }

  async #change(series: EventSeries, before: EventSeries, options: AbortOptions): Promise<void> {
    try {
      await this.#patch(series, before, options)
    } catch (error) {
      // The server forgets events after an hour.
      if (!isNotFound(error)) throw error
      await this.#create(series, options)
    }
  }

  async #patch(series: EventSeries, before: EventSeries, options: AbortOptions): Promise<void> {
    const { api } = this.#options
    if (api !== 'v1' && series.note !== before.note && this.#mayReplaceNotes) {
      try {
        return await this.#send('v1', series, { ...options, change: encodeNoteChange(series) })
      } catch (error) {
        if (!isForbidden(error)) throw error
        this.#mayReplaceNotes = false
      }
    }
    await this.#send(api, series, { ...options, change: encodeChange(series, api) })
  }

  async #send(
    api: EventApi,
    series: EventSeries,
    { change, ...options }: AbortOptions & { change: JsonObject },
  ): Promise<void> {
    const { client } = this.#options
    // A kind in full is found without asking the server, once the client has seen it.
    await client.resourceOf(eventKinds[api], options)
    await client.patch(refTo(eventKinds[api], series), change, options)
  }
}
