/**
 * Servers of this process: where they listen.
 */
import type { AddressInfo, Server } from 'node:net'

export interface ListenAddress {
  readonly host: string
  /** 0 for any that is free. */
  readonly port: number
  readonly protocol: 'http' | 'https'
}

/** Listens, and gives the address to call. @throws when the port cannot be had. */
export async function listenAt(server: Server, { host, port, protocol }: ListenAddress): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
  const { port: taken } = server.address() as AddressInfo
  return `${protocol}://${host.includes(':') ? `[${host}]` : host}:${taken}`
}
