/**
 * What carries requests to a server over connections that are kept.
 */
import type { WireRequest } from '#wire'

export interface Carrier {
  /** Sends a request and resolves with the head of its answer; what goes wrong is told as it came. */
  carry(request: CarrierRequest): Promise<CarrierResponse>
  /** Resolves when nothing is under way any more. */
  close(): Promise<unknown>
  /** Cuts off what is under way; then nothing is left open. */
  destroy(): Promise<unknown>
}

export interface CarrierRequest extends Pick<WireRequest, 'method' | 'target' | 'body' | 'signal' | 'beforeSend'> {
  /** Each value on a line of its own. */
  readonly headers: Readonly<Record<string, string | string[]>>
}

export interface CarrierResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly pieces: AsyncIterable<Uint8Array>
  /** The body as a whole, instead of in pieces. */
  whole(): Promise<Uint8Array>
}
