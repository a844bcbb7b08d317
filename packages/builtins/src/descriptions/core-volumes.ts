/**
 * Descriptions of core/v1: volumes of Pods, persistent volumes and their claims.
 */
export const volumeTexts = `
AWSElasticBlockStoreVolumeSource: A disk of Amazon Elastic Block Store. Deprecated; the CSI driver ebs.csi.aws.com serves it.
  fsType: The file system of the disk, such as ext4. The default is ext4.
  partition: The number of the partition to mount. 0 means the whole disk.
  readOnly: Mounts the disk read-only. The default is false.
  volumeID: The id of the disk.
AzureDiskVolumeSource: A disk of Azure. Deprecated; the CSI driver disk.csi.azure.com serves it.
  cachingMode [None|ReadOnly|ReadWrite]: What the host caches. The default is ReadWrite.
  diskName: The name of the disk.
  diskURI: The URI of the disk.
  fsType: The file system of the disk, such as ext4. The default is ext4.
  kind [Dedicated|Managed|Shared]: Managed disk, or blob disk of a shared or a dedicated storage account. The default is Shared.
  readOnly: Mounts the disk read-only. The default is false.
AzureFilePersistentVolumeSource < AzureFileVolumeSource: A file share of Azure. Deprecated; the CSI driver file.csi.azure.com serves it.
  secretNamespace: The namespace of the Secret. The default is that of the Pod.
AzureFileVolumeSource: A file share of Azure. Deprecated; the CSI driver file.csi.azure.com serves it.
  readOnly: Mounts the share read-only. The default is false.
  secretName: The Secret with the name and key of the storage account.
  shareName: The name of the share.
CSIPersistentVolumeSource: A volume of a CSI driver.
  controllerExpandSecretRef: The Secret for making the volume larger in the storage system.
  controllerPublishSecretRef: The Secret for attaching and detaching the volume.
  driver: The name of the driver.
  fsType: The file system of the volume, such as ext4.
  nodeExpandSecretRef: The Secret for making the file system larger on the Node.
  nodePublishSecretRef: The Secret for mounting the volume into a Pod.
  nodeStageSecretRef: The Secret for preparing the volume on a Node.
  readOnly: Mounts the volume read-only. The default is false.
  volumeAttributes: Properties of the volume for the driver.
  volumeHandle: The id of the volume in the storage system. It must be unique for the driver.
CSIVolumeSource: A volume that a CSI driver makes for this Pod and removes with it.
  driver: The name of the driver. It must support volumes of Pods.
  fsType: The file system of the volume, such as ext4. Empty leaves it to the driver.
  nodePublishSecretRef: The Secret for mounting the volume, in the namespace of the Pod.
  readOnly: Mounts the volume read-only. The default is false.
  volumeAttributes: Properties of the volume for the driver.
CephFSPersistentVolumeSource < CephFSVolumeSource: A file system of Ceph. Deprecated and no longer supported.
  secretRef: The Secret with the key of the user, in place of secretFile.
CephFSVolumeSource: A file system of Ceph. Deprecated and no longer supported.
  monitors: Addresses of the Ceph monitors.
  path: The folder to mount. The default is /.
  readOnly: Mounts the folder read-only. The default is false.
  secretFile: The file on the Node with the key of the user. The default is /etc/ceph/user.secret.
  secretRef: The Secret with the key of the user, in place of secretFile.
  user: The user of Ceph. The default is admin.
CinderPersistentVolumeSource < CinderVolumeSource: A disk of OpenStack Cinder. Deprecated; the CSI driver cinder.csi.openstack.org serves it.
CinderVolumeSource: A disk of OpenStack Cinder. Deprecated; the CSI driver cinder.csi.openstack.org serves it.
  fsType: The file system of the disk, such as ext4. The default is ext4.
  readOnly: Mounts the disk read-only. The default is false.
  secretRef: The Secret with parameters for the connection to OpenStack.
  volumeID: The id of the disk.
ClusterTrustBundleProjection: Certificates of ClusterTrustBundles as a file, chosen by name or by signer.
  labelSelector: The bundles of the signer by their labels. Absent matches none, empty matches all. It excludes name.
  name: One bundle by its name. It excludes signerName and labelSelector.
  optional: When true, the bundles may be missing.
  path: The file, relative to the volume.
  signerName: All bundles of this signer, joined without duplicates. It excludes name.
ConfigMapProjection: Keys of a ConfigMap as files.
  items: Which keys become files, and where. Absent means all keys, with their names. A key that is missing is an error unless optional is true.
  name: The name of the ConfigMap.
  optional: When true, the ConfigMap or its keys may be missing.
ConfigMapVolumeSource < ConfigMapProjection: A ConfigMap as a folder of files. They follow later changes.
  defaultMode: The permission bits of files, in octal or decimal. The default is 0644.
DownwardAPIProjection: Facts about the Pod as files.
  items: The files.
DownwardAPIVolumeFile: A file with a fact about the Pod. Either fieldRef or resourceFieldRef is set.
  fieldRef: A field of the Pod: its name, namespace, uid, labels or annotations.
  mode: The permission bits of the file. The default is that of the volume.
  path: The file, relative to the volume, without "..".
  resourceFieldRef: A request or limit of a container.
DownwardAPIVolumeSource < DownwardAPIProjection: Facts about the Pod as a folder of files.
  defaultMode: The permission bits of files, in octal or decimal. The default is 0644.
EmptyDirVolumeSource: An empty folder that lives as long as the Pod on its Node.
  medium: Where it is kept: empty for the disk of the Node, Memory for a file system in memory, HugePages for huge pages. The default is empty.
  sizeLimit: The most that it may hold. A Pod that exceeds it is evicted. With Memory the smaller of this and the memory limits counts.
EphemeralVolumeSource: A claim that is made for this Pod and deleted with it.
  volumeClaimTemplate: The claim. Its name is POD-VOLUME. A claim of that name that is not this Pod's stops the Pod from starting.
FCVolumeSource: A Fibre Channel disk. Either wwids, or targetWWNs and lun, are set.
  fsType: The file system of the disk, such as ext4. The default is ext4.
  lun: The number of the unit on the target.
  readOnly: Mounts the disk read-only. The default is false.
  targetWWNs: World wide names of the targets.
  wwids: World wide identifiers of the disk.
FlexPersistentVolumeSource < FlexVolumeSource: A volume of a FlexVolume driver. Deprecated; use CSI.
FlexVolumeSource: A volume of a FlexVolume driver. Deprecated; use CSI.
  driver: The name of the driver.
  fsType: The file system of the volume. The default depends on the driver.
  options: Options for the driver.
  readOnly: Mounts the volume read-only. The default is false.
  secretRef: The Secret whose keys are passed to the driver.
FlockerVolumeSource: A dataset of Flocker. Deprecated and no longer supported. One of the fields is set.
  datasetName: The name of the dataset, from its metadata. Deprecated.
  datasetUUID: The id of the dataset.
GCEPersistentDiskVolumeSource: A disk of Google Compute Engine. Deprecated; the CSI driver pd.csi.storage.gke.io serves it.
  fsType: The file system of the disk, such as ext4. The default is ext4.
  partition: The number of the partition to mount. 0 means the whole disk.
  pdName: The name of the disk.
  readOnly: Mounts the disk read-only. The default is false.
GitRepoVolumeSource: A clone of a git repository. Deprecated and disabled; clone in an init container instead.
  directory: The folder of the clone, without "..". A dot means the volume itself.
  repository: The URL of the repository.
  revision: The commit to check out.
GlusterfsPersistentVolumeSource < GlusterfsVolumeSource: A volume of Glusterfs. Deprecated and no longer supported.
  endpointsNamespace: The namespace of the Endpoints. The default is that of the claim.
GlusterfsVolumeSource: A volume of Glusterfs. Deprecated and no longer supported.
  endpoints: The Endpoints with the addresses of the servers.
  path: The name of the volume.
  readOnly: Mounts the volume read-only. The default is false.
HostPathVolumeSource: A file or folder of the Node. It gives the Pod access to the Node; avoid it.
  path: The path on the Node. A link is followed.
  type [|BlockDevice|CharDevice|Directory|DirectoryOrCreate|File|FileOrCreate|Socket]: What must be at the path, and whether it is created. Empty checks nothing and is the default.
ISCSIPersistentVolumeSource < ISCSIVolumeSource: An iSCSI disk. It can be mounted for writing only once.
ISCSIVolumeSource: An iSCSI disk. It can be mounted for writing only once.
  chapAuthDiscovery: Uses CHAP to sign in for discovery.
  chapAuthSession: Uses CHAP to sign in for the session.
  fsType: The file system of the disk, such as ext4. The default is ext4.
  initiatorName: The name of the initiator. With iscsiInterface, a new interface is made for it.
  iqn: The qualified name of the target.
  iscsiInterface: The interface of the initiator. The default is default, which is TCP.
  lun: The number of the unit on the target.
  portals: Further addresses of the target, with a port if it is not 860 or 3260.
  readOnly: Mounts the disk read-only. The default is false.
  secretRef: The Secret with the names and passwords for CHAP.
  targetPortal: The address of the target, with a port if it is not 860 or 3260.
ImageVolumeSource: The contents of an image or artifact as a read-only volume.
  pullPolicy [Always|IfNotPresent|Never]: When it is pulled. The default is Always for the tag latest and IfNotPresent for others.
  reference: The image or artifact, as in image of a container.
ImageVolumeStatus: What is mounted of an image.
  imageRef: The digest of the image.
KeyToPath: A key that becomes a file.
  key: The key of the ConfigMap or Secret.
  mode: The permission bits of the file. The default is that of the volume.
  path: The file, relative to the volume, without "..".
LocalVolumeSource: A disk, partition or folder of one Node, made in advance.
  fsType: The file system of a block device. Absent means that the kubelet finds it out.
  path: The path on the Node.
ModifyVolumeStatus: A change of the attributes of a volume that is under way.
  status [InProgress|Infeasible|Pending]: Pending waits for something, such as a missing class; InProgress is being done; Infeasible was refused by the driver.
  targetVolumeAttributesClassName: The VolumeAttributesClass that the volume is changed to.
NFSVolumeSource: A folder of an NFS server.
  path: The exported path.
  readOnly: Mounts the folder read-only. The default is false.
  server: The host name or address of the server.
PersistentVolume: A piece of storage of the cluster, independent of any Pod.
  spec: The storage, its size and how it can be used.
  status: Whether the volume is free, bound or released.
PersistentVolumeClaim: A request for storage, which is bound to a PersistentVolume. Pods refer to it.
  spec: The storage that is asked for.
  status: The storage that the claim has got.
PersistentVolumeClaimCondition < meta.v1.Condition: One aspect of the state of a claim, such as Resizing.
  lastProbeTime: When this condition was last checked.
PersistentVolumeClaimSpec: The storage that a claim asks for. After binding only the size and the volume attributes class can be changed.
  accessModes [ReadOnlyMany|ReadWriteMany|ReadWriteOnce|ReadWriteOncePod]: How the volume will be used: ReadWriteOnce and ReadWriteOncePod by one Node or one Pod, ReadOnlyMany and ReadWriteMany by many Nodes. The volume must allow all of them.
  dataSource: Where the first contents come from: a VolumeSnapshot or another claim in the same namespace. Kept equal to dataSourceRef where both can be used.
  dataSourceRef: Where the first contents come from: an object of any kind that a populator supports. With a namespace it may be in another one, if a ReferenceGrant there allows it.
  resources: The size to ask for. It can be raised later if the storage class allows it.
  selector: Labels that the volume must have. Volumes are not made on demand for a claim with a selector.
  storageClassName: The StorageClass. Absent means the default class; an empty text means only volumes without a class.
  volumeAttributesClassName: The VolumeAttributesClass with settings such as speed, which can be changed later.
  volumeMode [Block|Filesystem]: Filesystem or raw block device. The default is Filesystem.
  volumeName: The volume that the claim is bound to.
PersistentVolumeClaimStatus: What a claim has got.
  accessModes [ReadOnlyMany|ReadWriteMany|ReadWriteOnce|ReadWriteOncePod]: How the volume can be used: ReadWriteOnce, ReadWriteOncePod, ReadOnlyMany or ReadWriteMany.
  allocatedResourceStatuses [ControllerResizeInProgress|ControllerResizeInfeasible|NodeResizeInProgress|NodeResizeInfeasible|NodeResizePending]: How far the resizing of each resource is, such as ControllerResizeInProgress or NodeResizePending. Absent when none is under way.
  allocatedResources: The size that is set aside, with an expansion that is under way. Quota counts the larger of this and the request.
  capacity: The size that the volume has.
  conditions: The latest observations of the claim.
  currentVolumeAttributesClassName: The VolumeAttributesClass that the volume has now. Absent means none.
  modifyVolumeStatus: A change of the volume attributes class that is under way.
  phase [Bound|Lost|Pending]: Pending waits for a volume, Bound has one, Lost had one that no longer exists.
PersistentVolumeClaimTemplate: The claim that is made for a Pod.
  metadata: Labels and annotations of the claim. Nothing else is allowed.
  spec: The storage to ask for.
PersistentVolumeClaimVolumeSource: A claim as a volume.
  claimName: The name of a claim in the namespace of the Pod.
  readOnly: Mounts the volume read-only. The default is false.
PersistentVolumeSpec: What a volume is and who may use it. One type of storage is set; it cannot be changed.
  accessModes [ReadOnlyMany|ReadWriteMany|ReadWriteOnce|ReadWriteOncePod]: How the volume can be used: ReadWriteOnce and ReadWriteOncePod by one Node or one Pod, ReadOnlyMany and ReadWriteMany by many Nodes.
  awsElasticBlockStore: A disk of Amazon Elastic Block Store. Deprecated.
  azureDisk: A disk of Azure. Deprecated.
  azureFile: A file share of Azure. Deprecated.
  capacity: The size of the volume.
  cephfs: A file system of Ceph. Deprecated and no longer supported.
  cinder: A disk of OpenStack Cinder. Deprecated.
  claimRef: The claim that the volume is bound to. Setting it in advance reserves the volume.
  csi: A volume of a CSI driver.
  fc: A Fibre Channel disk.
  flexVolume: A volume of a FlexVolume driver. Deprecated.
  flocker: A dataset of Flocker. Deprecated and no longer supported.
  gcePersistentDisk: A disk of Google Compute Engine. Deprecated.
  glusterfs: A volume of Glusterfs. Deprecated and no longer supported.
  hostPath: A folder of the Node, for tests on a single Node only.
  iscsi: An iSCSI disk.
  local: A disk or folder of one Node. It needs nodeAffinity.
  mountOptions: Options for mounting. A wrong one lets the mount fail.
  nfs: A folder of an NFS server.
  nodeAffinity: The Nodes that can reach the volume. Pods that use it run there.
  persistentVolumeReclaimPolicy [Delete|Recycle|Retain]: What happens when the claim is gone: Delete the storage, Retain it for an administrator, or Recycle, which is deprecated. The default is Retain for volumes made by hand and Delete for those made on demand.
  photonPersistentDisk: A disk of Photon Controller. Deprecated and no longer supported.
  portworxVolume: A volume of Portworx. Deprecated.
  quobyte: A volume of Quobyte. Deprecated and no longer supported.
  rbd: A block device of Ceph. Deprecated and no longer supported.
  scaleIO: A volume of ScaleIO. Deprecated and no longer supported.
  storageClassName: The StorageClass of the volume. Empty means none.
  storageos: A volume of StorageOS. Deprecated and no longer supported.
  volumeAttributesClassName: The VolumeAttributesClass of the volume. Empty means none. When set, claims must ask for the same.
  volumeMode [Block|Filesystem]: Filesystem or raw block device. The default is Filesystem.
  vsphereVolume: A disk of vSphere. Deprecated.
PersistentVolumeStatus: What is known about a volume.
  lastPhaseTransitionTime: When the phase last changed.
  message: Details for people about the phase.
  phase [Available|Bound|Failed|Pending|Released]: Available is free, Bound has a claim, Released lost its claim and is not reclaimed yet, Failed could not be reclaimed.
  reason: One word for programs about a failure.
PhotonPersistentDiskVolumeSource: A disk of Photon Controller. Deprecated and no longer supported.
  fsType: The file system of the disk, such as ext4. The default is ext4.
  pdID: The id of the disk.
PodCertificateProjection: A private key and a certificate that the kubelet requests for the Pod and renews.
  certificateChainPath: The file for the certificate chain. Prefer credentialBundlePath, because two files may be read while they are renewed.
  credentialBundlePath: The file for the private key followed by the certificate chain, in PEM.
  keyPath: The file for the private key. Prefer credentialBundlePath, because two files may be read while they are renewed.
  keyType: The type of key: RSA3072, RSA4096, ECDSAP256, ECDSAP384, ECDSAP521 or ED25519.
  maxExpirationSeconds: The longest lifetime of the certificate, from 3600 to 7862400 seconds. The default is 86400.
  signerName: The signer that issues the certificate.
  userAnnotations: Further texts for the signer. The server does not check them.
PortworxVolumeSource: A volume of Portworx. Deprecated; the CSI driver pxd.portworx.com serves it.
  fsType: The file system of the volume: ext4 or xfs. The default is ext4.
  readOnly: Mounts the volume read-only. The default is false.
  volumeID: The id of the volume.
ProjectedVolumeSource: Several sources in one folder.
  defaultMode: The permission bits of files, in octal or decimal. The default is 0644.
  sources: The sources. Each entry has one of them.
QuobyteVolumeSource: A volume of Quobyte. Deprecated and no longer supported.
  group: The group that the volume is used as. The default is none.
  readOnly: Mounts the volume read-only. The default is false.
  registry: Addresses of the registry as HOST:PORT, separated by commas.
  tenant: The tenant that owns the volume.
  user: The user that the volume is used as. The default is the user of the service account.
  volume: The name of the volume.
RBDPersistentVolumeSource < RBDVolumeSource: A block device of Ceph. Deprecated and no longer supported.
RBDVolumeSource: A block device of Ceph. Deprecated and no longer supported.
  fsType: The file system of the device, such as ext4. The default is ext4.
  image: The name of the image.
  keyring: The file on the Node with the key of the user. The default is /etc/ceph/keyring.
  monitors: Addresses of the Ceph monitors.
  pool: The pool of the image. The default is rbd.
  readOnly: Mounts the device read-only. The default is false.
  secretRef: The Secret with the key of the user, in place of keyring.
  user: The user of Ceph. The default is admin.
ScaleIOPersistentVolumeSource < ScaleIOVolumeSource: A volume of ScaleIO. Deprecated and no longer supported.
ScaleIOVolumeSource: A volume of ScaleIO. Deprecated and no longer supported.
  fsType: The file system of the volume. The default is xfs.
  gateway: The address of the gateway of ScaleIO.
  protectionDomain: The protection domain of the volume.
  readOnly: Mounts the volume read-only. The default is false.
  secretRef: The Secret with the name and password of the user.
  sslEnabled: Uses SSL to the gateway. The default is false.
  storageMode: ThickProvisioned or ThinProvisioned. The default is ThinProvisioned.
  storagePool: The storage pool of the protection domain.
  system: The name of the storage system.
  volumeName: The name of a volume that exists.
SecretProjection: Keys of a Secret as files.
  items: Which keys become files, and where. Absent means all keys, with their names. A key that is missing is an error unless optional is true.
  name: The name of the Secret.
  optional: When true, the Secret or its keys may be missing.
SecretVolumeSource < SecretProjection: A Secret as a folder of files. They follow later changes.
  defaultMode: The permission bits of files, in octal or decimal. The default is 0644.
  secretName: The name of a Secret in the namespace of the Pod.
ServiceAccountTokenProjection: A token of the service account of the Pod, which the kubelet renews.
  audience: Who the token is for. The default is the API server.
  expirationSeconds: The lifetime of the token, at least 600 seconds. The default is 3600. It is renewed after 80 percent of it, or after 24 hours.
  path: The file, relative to the volume.
StorageOSPersistentVolumeSource < StorageOSVolumeSource: A volume of StorageOS. Deprecated and no longer supported.
StorageOSVolumeSource: A volume of StorageOS. Deprecated and no longer supported.
  fsType: The file system of the volume, such as ext4. The default is ext4.
  readOnly: Mounts the volume read-only. The default is false.
  secretRef: The Secret with the credentials of StorageOS. Absent means defaults.
  volumeName: The name of the volume.
  volumeNamespace: The namespace in StorageOS. The default is that of the Pod.
TypedLocalObjectReference: Names an object of any kind in the same namespace.
  apiGroup: The API group of the object. Empty means the core group.
  kind: The kind of the object.
  name: The name of the object.
TypedObjectReference < TypedLocalObjectReference: Names an object of any kind, also in another namespace.
  namespace: The namespace of the object, if it is another one. A ReferenceGrant there must allow it.
Volume: A volume of a Pod. One source is set; without any it is an empty folder.
  awsElasticBlockStore: A disk of Amazon Elastic Block Store. Deprecated.
  azureDisk: A disk of Azure. Deprecated.
  azureFile: A file share of Azure. Deprecated.
  cephfs: A file system of Ceph. Deprecated and no longer supported.
  cinder: A disk of OpenStack Cinder. Deprecated.
  configMap: The keys of a ConfigMap as files.
  csi: A volume that a CSI driver makes for this Pod.
  downwardAPI: Facts about the Pod as files.
  emptyDir: An empty folder that lives as long as the Pod.
  ephemeral: A claim that is made for this Pod and deleted with it.
  fc: A Fibre Channel disk.
  flexVolume: A volume of a FlexVolume driver. Deprecated.
  flocker: A dataset of Flocker. Deprecated and no longer supported.
  gcePersistentDisk: A disk of Google Compute Engine. Deprecated.
  gitRepo: A clone of a git repository. Deprecated and disabled.
  glusterfs: A volume of Glusterfs. Deprecated and no longer supported.
  hostPath: A file or folder of the Node.
  image: The contents of an image, read-only.
  iscsi: An iSCSI disk.
  name: The name of the volume, unique in the Pod, to which mounts refer.
  nfs: A folder of an NFS server.
  persistentVolumeClaim: A claim in the namespace of the Pod.
  photonPersistentDisk: A disk of Photon Controller. Deprecated and no longer supported.
  portworxVolume: A volume of Portworx. Deprecated.
  projected: Several sources in one folder: Secrets, ConfigMaps, tokens and more.
  quobyte: A volume of Quobyte. Deprecated and no longer supported.
  rbd: A block device of Ceph. Deprecated and no longer supported.
  scaleIO: A volume of ScaleIO. Deprecated and no longer supported.
  secret: The keys of a Secret as files.
  storageos: A volume of StorageOS. Deprecated and no longer supported.
  vsphereVolume: A disk of vSphere. Deprecated.
VolumeNodeAffinity: The Nodes that can reach a volume.
  required: Conditions that a Node must meet.
VolumeProjection: One source of a projected volume. Exactly one field is set.
  clusterTrustBundle: Certificates of ClusterTrustBundles.
  configMap: Keys of a ConfigMap.
  downwardAPI: Facts about the Pod.
  podCertificate: A private key and a certificate for the Pod.
  secret: Keys of a Secret.
  serviceAccountToken: A token of the service account.
VolumeResourceRequirements: The size that a claim asks for.
  limits: The most that the volume may have, by resource.
  requests: The least that the volume must have, by resource: storage. The default is the limit.
VolumeStatus: More about a mounted volume, depending on its type.
  image: What is mounted of an image.
VsphereVirtualDiskVolumeSource: A disk of vSphere. Deprecated; the CSI driver csi.vsphere.vmware.com serves it.
  fsType: The file system of the disk, such as ext4. The default is ext4.
  storagePolicyID: The id of the storage policy that belongs to storagePolicyName.
  storagePolicyName: The name of the storage policy.
  volumePath: The path of the disk.
`
