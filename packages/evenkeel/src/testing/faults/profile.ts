/**
 * What a server really does to its clients: not every fault is legal everywhere.
 */
export interface Profile {
  readonly name: string
  /** A process that starts may first be shown the past: its first list may come from a server that lags behind. */
  readonly timeTravel: boolean
}

export const profiles = {
  /** Lists at start are served from any cache, however old. */
  'k8s<=1.34': { name: 'k8s<=1.34', timeTravel: true },
  /** Streaming lists: what a process is shown at its start is not older than its start. */
  'k8s>=1.35': { name: 'k8s>=1.35', timeTravel: false },
  /** Our own server: as the newer clusters. */
  evenkeel: { name: 'evenkeel', timeTravel: false },
} as const satisfies Record<string, Profile>

export type ProfileName = keyof typeof profiles
