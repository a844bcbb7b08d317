/**
 * Which Services a program stands behind, as its annotation says.
 *
 *   service-producer: [{"serviceName":"web","port":5000,"address":"127.0.0.1"}]
 *
 * Without a port the program gets one by the template `portForServing`.
 */
import type { KubeObject } from 'evenkeel'
import type { SocketAddress } from '@evenkeel/workloads'
import { numberOf, textOf, type Values } from '../rules/field-values.ts'

export interface ServiceProducer {
  /** The name of the Service. */
  readonly service: string
  /** Where the program listens; empty: `localhost`. */
  readonly address: string
  /** 0: it is chosen. */
  readonly port: number
}

const annotation = 'service-producer'

/** An object that can never be run as it is. */
export class SpecError extends Error {
  override readonly name = 'SpecError'
}

/** @throws {SpecError} for an annotation that is no such list */
export function producersOf({ metadata }: Pick<KubeObject, 'metadata'>): readonly ServiceProducer[] {
  const text = metadata.annotations?.[annotation]
  if (text === undefined || text === '') return []
  const list = parseList(text)
  if (!list) throw new SpecError(`the annotation ${annotation} must be a list of objects with serviceName, as JSON`)
  return list.map((item: unknown) => {
    const values = (typeof item === 'object' && item !== null ? item : {}) as Values
    return {
      service: serviceName(textOf(values, 'serviceName')),
      address: textOf(values, 'address'),
      port: numberOf(values, 'port') ?? 0,
    }
  })
}

function parseList(text: string): readonly unknown[] | undefined {
  try {
    const list: unknown = JSON.parse(text)
    return Array.isArray(list) ? (list as readonly unknown[]) : undefined
  } catch {
    return undefined
  }
}

/** `NAMESPACE/NAME` is the Service NAME: no kind of this group has a namespace. */
export function serviceName(text: string): string {
  return text.slice(text.indexOf('/') + 1)
}

/** Where connections to a producer go. One that listens everywhere is reached on this machine. */
export function endpointAddress({ address }: ServiceProducer): string {
  switch (address) {
    case '':
      return 'localhost'
    case '0.0.0.0':
      return '127.0.0.1'
    case '[::]':
    case '::':
      return '[::1]'
    default:
      return address
  }
}

/** An address of an Endpoint as a network takes it: without brackets. */
export function socketAddress(address: string, port: number): SocketAddress {
  return { address: address.replace(/^\[(.*)\]$/, '$1'), port }
}
