import { loadPackageDefinition } from '@grpc/grpc-js';
import { fromJSON } from '@grpc/proto-loader';
import { descriptors } from './generated/descriptors';
import type { ProtoGrpcType as ExchangeProto } from './generated/exchange';
import type { ProtoGrpcType as LocalizationProto } from './generated/localization';
import type { ProtoGrpcType as PdfProto } from './generated/pdf';
import type { ProtoGrpcType as SettingsProto } from './generated/settings';
import type { ProtoGrpcType as WorkflowProto } from './generated/workflow';

type Descriptors = Parameters<typeof fromJSON>[0];
type Packages = ExchangeProto & LocalizationProto & PdfProto & SettingsProto & WorkflowProto;

/** Every gRPC package of the platform: clients and service definitions. */
export const protoPackages = (
  loadPackageDefinition(
    fromJSON(descriptors as Descriptors, { longs: Number, enums: String, defaults: true, oneofs: true }),
  ) as unknown as Packages
).plinth;
