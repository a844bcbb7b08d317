/**
 * Columns of storage kinds.
 */
import {
  ageColumn,
  booleanColumn,
  column,
  columnsOf,
  formatQuantityCell,
  identifyingColumn,
  integerColumn,
  nameColumn,
  wideColumn,
  type Column,
  type FieldReader,
  type TableColumns,
} from './column.ts'

const volumeMode = wideColumn(
  column(
    'VolumeMode',
    'Whether it is a file system or a block device.',
    (o) => o.optionalText('spec', 'volumeMode') ?? '<unset>',
  ),
)
const attributesClass = column(
  'VolumeAttributesClass',
  'Its class of attributes.',
  (o) => o.optionalText('spec', 'volumeAttributesClassName') ?? '<unset>',
)
const volumeStatus = column('Status', 'What it is used for.', (o) =>
  o.has('metadata', 'deletionTimestamp') ? 'Terminating' : o.text('status', 'phase'),
)
const volumeClass = column(
  'StorageClass',
  'Its class of storage.',
  (o) => o.optionalText('metadata', 'annotations', classAnnotation) ?? o.text('spec', 'storageClassName'),
)
const classAnnotation = 'volume.beta.kubernetes.io/storage-class'

export const storageColumns: Readonly<Record<string, TableColumns>> = {
  PersistentVolume: columnsOf(
    nameColumn,
    column('Capacity', 'How large it is.', (o) => capacity(o.at('spec', 'capacity'))),
    column('Access Modes', 'Who may use it at a time.', (o) => accessModes(o.texts('spec', 'accessModes'))),
    column('Reclaim Policy', 'What becomes of it when it is released.', (o) =>
      o.text('spec', 'persistentVolumeReclaimPolicy'),
    ),
    volumeStatus,
    column('Claim', 'Who has it.', claim),
    volumeClass,
    attributesClass,
    column('Reason', 'Why it is in this state.', (o) => o.text('status', 'reason')),
    ageColumn,
    volumeMode,
  ),
  PersistentVolumeClaim: columnsOf(
    nameColumn,
    volumeStatus,
    column('Volume', 'Which volume it got.', (o) => o.text('spec', 'volumeName')),
    column('Capacity', 'How large the volume is.', (o) => (isBound(o) ? capacity(o.at('status', 'capacity')) : '')),
    column('Access Modes', 'Who may use the volume at a time.', (o) =>
      isBound(o) ? accessModes(o.texts('status', 'accessModes')) : '',
    ),
    volumeClass,
    attributesClass,
    ageColumn,
    volumeMode,
  ),
  'StorageClass.storage.k8s.io': columnsOf(
    { ...nameColumn, cell: (o) => o.text('metadata', 'name') + (isDefaultClass(o) ? ' (default)' : '') },
    column('Provisioner', 'Who makes volumes of this class.', (o) => o.text('provisioner')),
    column(
      'ReclaimPolicy',
      'What becomes of its volumes when they are released.',
      (o) => o.optionalText('reclaimPolicy') ?? 'Delete',
    ),
    column(
      'VolumeBindingMode',
      'When a claim gets its volume.',
      (o) => o.optionalText('volumeBindingMode') ?? 'Immediate',
    ),
    column('AllowVolumeExpansion', 'Whether its volumes can grow.', (o) => o.flag('allowVolumeExpansion')),
    ageColumn,
  ),
  'VolumeAttributesClass.storage.k8s.io': columnsOf(
    nameColumn,
    column('DriverName', 'Who knows these attributes.', (o) => o.text('driverName')),
    ageColumn,
  ),
  'VolumeAttachment.storage.k8s.io': columnsOf(
    nameColumn,
    identifyingColumn(column('Attacher', 'Who attaches it.', (o) => o.text('spec', 'attacher'))),
    column('PV', 'Which volume.', (o) => o.text('spec', 'source', 'persistentVolumeName')),
    column('Node', 'To which node.', (o) => o.text('spec', 'nodeName')),
    booleanColumn('Attached', 'Whether it is attached.', (o) => o.flag('status', 'attached')),
    ageColumn,
  ),
  'CSINode.storage.k8s.io': columnsOf(
    nameColumn,
    integerColumn('Drivers', 'How many drivers the node has.', (o) => o.size('spec', 'drivers')),
    ageColumn,
  ),
  'CSIDriver.storage.k8s.io': columnsOf(
    nameColumn,
    booleanColumn(
      'AttachRequired',
      'Whether volumes are attached before they are mounted.',
      (o) => !o.has('spec', 'attachRequired') || o.flag('spec', 'attachRequired'),
    ),
    driverFlag('PodInfoOnMount', 'Whether it is told which pod a volume is for.'),
    driverFlag('StorageCapacity', 'Whether it says how much room is left.'),
    column('TokenRequests', 'For whom it needs tokens.', tokenRequests),
    driverFlag('RequiresRepublish', 'Whether it wants to be called again and again.'),
    column(
      'Modes',
      'For how long volumes can live.',
      (o) => o.texts('spec', 'volumeLifecycleModes').join(',') || '<none>',
    ),
    ageColumn,
  ),
  'CSIStorageCapacity.storage.k8s.io': columnsOf(
    nameColumn,
    column('StorageClassName', 'The class of storage.', (o) => o.text('storageClassName')),
    column('Capacity', 'How much room is left.', (o) =>
      o.has('capacity') ? formatQuantityCell(o.at('capacity')) : '<unset>',
    ),
  ),
}

function driverFlag(title: string, description: string): Column {
  const field = title.charAt(0).toLowerCase() + title.slice(1)
  return booleanColumn(title, description, (o) => o.flag('spec', field))
}

function capacity(resources: FieldReader): string {
  return resources.has('storage') ? formatQuantityCell(resources.at('storage')) : '0'
}

function accessModes(modes: readonly string[]): string {
  return [...shortModes]
    .filter(([mode]) => modes.includes(mode))
    .map(([, short]) => short)
    .join(',')
}

const shortModes = new Map([
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
])

function claim(volume: FieldReader): string {
  const reference = volume.at('spec', 'claimRef')
  return reference.has() ? `${reference.text('namespace')}/${reference.text('name')}` : ''
}

function isBound(volumeClaim: FieldReader): boolean {
  return volumeClaim.text('spec', 'volumeName') !== ''
}

function isDefaultClass(storageClass: FieldReader): boolean {
  const prefixes = ['storageclass.kubernetes.io', 'storageclass.beta.kubernetes.io']
  return prefixes.some(
    (prefix) => storageClass.text('metadata', 'annotations', `${prefix}/is-default-class`) === 'true',
  )
}

function tokenRequests(driver: FieldReader): string {
  if (!driver.has('spec', 'tokenRequests')) return '<unset>'
  return driver
    .list('spec', 'tokenRequests')
    .map((request) => request.text('audience'))
    .join(',')
}
