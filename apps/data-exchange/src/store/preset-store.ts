import type { Caller } from '@plinth/kernel/caller';
import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import type { ExportPreset, Prisma } from '../generated/client';

export type Preset = Pick<
  ExportPreset,
  'definitionName' | 'presetName' | 'selectedFields' | 'format' | 'includeIdForImport'
>;

/** Presets belong to the user who saved them. */
export interface PresetStore {
  list(caller: Caller, definitionName: string): Promise<Preset[]>;
  /** Returns whether the preset is new. */
  save(caller: Caller, preset: Preset): Promise<{ isNew: boolean }>;
  /** Returns whether there was one. */
  remove(caller: Caller, definitionName: string, presetName: string): Promise<boolean>;
}

const SAVE = `
  INSERT INTO export_preset
    (tenant_id, user_id, definition_name, preset_name, selected_fields, format, include_id_for_import)
  VALUES ($1::uuid, $2, $3, $4, $5::text[], $6, $7)
  ON CONFLICT (tenant_id, user_id, definition_name, preset_name) DO UPDATE SET
    selected_fields = excluded.selected_fields, format = excluded.format,
    include_id_for_import = excluded.include_id_for_import, saved_at = now()
  RETURNING (xmax = 0) AS is_new`;

export const presetStore = (db: TenantDatabase<Prisma.TransactionClient>): PresetStore => ({
  list: ({ tenantId, userId }, definitionName) =>
    db.inTenant(tenantId, (tx) =>
      tx.exportPreset.findMany({
        where: { tenantId, userId, definitionName },
        select: {
          definitionName: true,
          presetName: true,
          selectedFields: true,
          format: true,
          includeIdForImport: true,
        },
        orderBy: { presetName: 'asc' },
      }),
    ),

  save: ({ tenantId, userId }, preset) =>
    db.inTenant(tenantId, async (tx) => {
      const [row] = await tx.$queryRawUnsafe<{ is_new: boolean }[]>(
        SAVE,
        tenantId,
        userId,
        preset.definitionName,
        preset.presetName,
        preset.selectedFields,
        preset.format,
        preset.includeIdForImport,
      );
      return { isNew: row!.is_new };
    }),

  remove: ({ tenantId, userId }, definitionName, presetName) =>
    db.inTenant(tenantId, async (tx) => {
      const { count } = await tx.exportPreset.deleteMany({
        where: { tenantId, userId, definitionName, presetName },
      });
      return count > 0;
    }),
});
