/**
 * What `/version` says: the Kubernetes release whose API this is, and that it is us.
 *
 * Clients read `gitVersion` as a semantic version and decide by it which features to use.
 */
import type { JsonObject } from '#api'

export function versionDocument(): JsonObject {
  return {
    major: '1',
    minor: '36',
    emulationMajor: '1',
    emulationMinor: '36',
    minCompatibilityMajor: '1',
    minCompatibilityMinor: '35',
    gitVersion: 'v1.36.4+evenkeel',
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: '',
    compiler: 'node',
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  }
}
