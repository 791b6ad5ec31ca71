"""Verbs of other languages than English, by stem."""

from __future__ import annotations

import functools
import re
import unicodedata

_FOREIGN = {
    "load": "descargue descarguen lade lädt laden geladen einlesen lies lesen liest importier hole holt cargar carga cargue lee leer descarga descargar extrae extraer lire lis charge charger télécharge télécharger extrais extraire récupère carica caricare leggi leggere scarica scaricare estrai ler leia carregar carregue carrega baixe baixar extraia lees lezen inlezen laad wczytaj wczytać załaduj pobierz загруз прочита считай скача läs ladda hämta oku yükle indir 读取 讀取 加载 加載 载入 載入 下载 下載 获取 抓取 导入 提取 読み込 取得 ダウンロード 불러 읽 로드 가져오 다운로드 eingelesen einlesen heruntergeladen herunterlad runterlad abruf abgerufen holen lädt récupérer récupérez importe importer descárga lea lee obtén obtener",
    "clean": "bereinig säuber putze vorverarbeit aufbereit limpia limpiar limpie preprocesa nettoie nettoyer nettoyez prétraite prétraiter pulisci pulire pulite preprocessa limpe limpar limpa schoon opschonen opschoon oczyść oczyścić wyczyść очист почист предобработ rensa städa temizle 清洗 清理 预处理 預處理 去重 前処理 クリーニング クレンジング 掃除 전처리 정제 정리 bereinigt gesäubert filtr filtert filtere aufbereitet límpi limpial filtra filtrar filtre filtrer filtrez dédupli elimina_duplicados opgeschoond 过滤 過濾 フィルタ 필터",
    "validate": "prüfe prüft überprüf validier valida validar comprueba verifica vérifie vérifier valide valider controlla verificare verifique controleer valideer sprawdź zweryfikuj проверь проверить валидир kontrollera validera doğrula 验证 驗證 检查 檢查 校验 検証 検査 チェック 검증 검사 확인 geprüft überprüft validiert geverifieerd 核对",
    "split": "teile aufteil divide dividir diviser divise dividi divida splits podziel раздели разбей dela böl 拆分 分割 切分 나누 분할",
    "features": "特征 特徵 特徴量 특징",
    "transform": "redimensiona redimensionn ridimensiona verkleinere skaliere transformier wandle umwandl konvertier berechne transforma transformar convierte transforme transformer convertis convertir trasforma trasformare converti converta transformeer bereken przekształć oblicz преобраз вычисли omvandla beräkna dönüştür hesapla dekomprimier entpack descomprime décompresse 转换 轉換 变换 處理 处理 解压 解壓縮 解壓 压缩 壓縮 调整 調整 计算 計算 変換 解凍 リサイズ 計算する 변환 계산 처리 압축 normalizza normalizza normaliza normalizar normalise normaliser normalisier segmenta segmentar calcula calcular calcola calcolare calcule calculer calculez agrupa agrupar raggruppa regroupe regrouper gruppier ordena ordina trie trier sortier zähl gezählt cuenta conta compte comptez berechnet umgewandelt konvertiert policz przelicz przetwórz przekonwertuj посчитай рассчитай отсортируй bereken splits_op 解析 统计 統計 分析 排序 生成 提取特征 压缩 分類 変える 生成 集める 번역 변환",
    "join": "zusammenführ verein kombinier verbinde fusioniere unir combina combinar fusiona fusionne fusionner combine combiner joins unisci unire combinare junte juntar una combineer samenvoeg połącz объедин соедин kombinera birleştir 合并 合併 汇总 匯總 融合 結合 マージ 統合 병합 결합 합치 zusammengeführt zusammenführ vereint kombiniert junta juntar júnta reúne fusionne rassemble rassembler assemble unisci raccogli junte samengevoeg voeg połącz",
    "aggregate": "aggregier agrega agregar agrège agréger aggrega aggregare agregue aggregeer zagreguj агрегир aggregera topla 聚合 集計 집계",
    "train": "trainier trainiere anlernen entrena entrenar entrene entraîne entraîner entraine entrainer addestra addestrare allena treine treinar treina wytrenuj trenuj wytrenować обуч тренир träna eğit 训练 訓練 学習 トレーニング 학습 훈련 trainiert angelernt entrenan entrainé getraind wytrenuj",
    "finetune": "feinabstimm feintun 微调 微調 ファインチューニング 미세조정",
    "tune": "optimier optimiza optimizar optimise optimiser ottimizza otimize otimizar optimaliseer zoptymalizuj оптимизир optimera 调参 调优 優化 优化 最適化 チューニング 튜닝 최적화",
    "evaluate": "bewerte bewertet evaluier auswert werte evalúa evaluar evalúalo evalúe evalua évalue évaluer évaluez valuta valutare valutalo avalie avaliar avalia evalueer beoordeel oceń ocenić оцени оценить utvärdera değerlendir 评估 評估 评价 评测 評価 평가 bewertet ausgewertet evaluiert evalúan geëvalueerd 测评",
    "test": "teste testen prueba probar tester testa testare testar przetestuj протестир testa 测试 測試 テスト 테스트 getestet probado testé",
    "predict": "vorhersag prognostizier predice predecir prédis prédire predici prevedi prevedere preveja prever voorspel prognozuj przewidź предскаж предсказ прогноз förutsäg tahmin 预测 預測 推理 予測 推論 예측 추론 vorhergesagt prognostiziert vorhers ",
    "compare": "vergleich compara comparar compare comparer confronta confrontare vergelijk porównaj сравни jämför karşılaştır 比较 比較 비교 verglichen comparad comparé",
    "select": "wähle auswähl elige elegir selecciona seleccionar choisis choisir sélectionne scegli scegliere seleziona escolha escolher selecione kies kiezen selecteer wybierz выбери выбер välj seç 选择 選擇 选出 挑选 選択 選ぶ 選び 선택 고르 ausgewählt gewählt elíg elegí",
    "export": "speicher schreib exportier lade_hoch hochlad lädt_hoch sicher guarda guardar guárdalo escribe escribir exporta exportar sube subir súbelo enregistre enregistrer sauvegarde sauvegarder écris écrire exporte exporter téléverse salva salvare salvalo scrivi scrivere esporta esportare salve salvar grave gravar exporte escreva envie_para opslaan schrijf exporteer upload zapisz wyślij_do сохрани сохран запиши запис выгруз загрузи_в spara exportera skriv ladda_upp kaydet yaz 保存 写入 寫入 导出 導出 上传 上傳 备份 備份 書き込 出力 アップロード エクスポート バックアップ 저장 내보내 업로드 백업 gespeichert geschrieben gesichert hochgeladen hochlad abgelegt exportiert archivier guardal guárdal súbel sube_a carga_en salva_in salvalo enregistrez sauvegardez opgeslagen prześlij zapis wgraj 上传到 存到 存入 格納",
    "register": "registrier registra registrar enregistre_dans registreer zarejestruj зарегистрир registrera kaydettir 注册 註冊 登记 登録 등록",
    "deploy": "deploye deployt bereitstell ausroll ausliefer veröffentlich despliega desplegar despliégalo despliegue publica publicar déploie déployer déployez publie distribuisci distribuire pubblica implante implantar implanta publique uitrol uitrollen deploy rol wdróż wdrożyć opublikuj разверн развёрн задеплой опублик driftsätt distribuera dağıt yayınla 部署 上线 上線 发布 發布 デプロイ 公開 배포 ausgerollt bereitgestellt veröffentlicht deployt despliégu desplegado déployé mise_en_production uitgerold",
    "notify": "benachrichtig schick sende melde informier avisa avisar notifica notificar envía enviar manda mandar préviens prévenir notifie notifier envoie envoyer avvisa avvisare notificare invia inviare avise notifique envie waarschuw stuur meld powiadom wyślij уведом отправ сообщи пришли meddela skicka bildir gönder 通知 发送 發送 发邮件 寄信 告警 送信 送る 알림 보내 알려 benachrichtigt informiert gemeldet avís avisad notifíc notifié prévenez verwittig stuur",
    "report": "bericht informe rapport rapporto relatório verslag raport отчёт отчет rapor 报告 報告 レポート 보고서",
    "plot": "zeichne grafica graficar trace tracer disegna plote teken narysuj построй rita çiz 画图 绘制 繪製 可视化 描画 グラフ化 시각화 disegna gráfic grafik zeichnet",
    "build": "baue bauen kompilier construye construir compila construis construire compile costruisci compilare construa construir bouw zbuduj собери собрать bygg derle 构建 構建 编译 編譯 ビルド 빌드",
    "delete": "lösch entfern borra borrar elimina eliminar supprime supprimer elimina cancella exclua apague verwijder usuń удали удалить radera sil 删除 刪除 清除 削除 삭제 gelöscht entfernt aufräum borrad elimín supprimé verwijderd",
    "approve": "genehmig freigab aprueba aprobar aprobación approuve approuver approva approvazione aprove aprovação goedkeur zatwierdź одобр утверд godkänn onayla 批准 审批 審批 审核 承認 승인 genehmigt freigegeben aprobad approuvé goedgekeurd",
    "wait": "warte espera esperar attends attendre aspetta attendi espere wacht czekaj poczekaj подожд vänta bekle 等待 待つ 待って 대기 기다",
    "run": "führe ausführ starte ejecuta ejecutar exécute exécuter lance lancer esegui eseguire execute executar rode voer uruchom запусти выполни kör çalıştır 运行 執行 执行 実行 실행",
}  # fmt: skip


@functools.cache
def _stems() -> tuple[tuple[str, str], ...]:
    found = [(stem.replace("_", " "), role) for role, stems in _FOREIGN.items() for stem in stems.split()]
    return tuple(sorted(found, key=lambda pair: -len(pair[0])))


@functools.cache
def cjk() -> re.Pattern[str]:
    """The verbs of languages that are written without spaces."""
    return re.compile("|".join(re.escape(stem) for stem, _ in _stems() if _is_cjk(stem)))


def _is_cjk(text: str) -> bool:
    return any("\u3040" <= sign <= "\u9fff" or "\uac00" <= sign <= "\ud7a3" for sign in text)


@functools.lru_cache(maxsize=8192)
def foreign(word: str) -> str | None:
    """The role of a verb of another language, by its stem.

    >>> foreign("trainiere"), foreign("训练")
    ('train', 'train')
    """
    if _is_cjk(word):
        return next((role for stem, role in _stems() if stem == word), None)
    if word.startswith("delay"):
        return None  # no form of the Swedish "dela"
    plain = _plain(word)
    for stem, role in _stems():
        if word == stem or (len(stem) >= 4 and plain.startswith(_plain(stem)) and len(plain) - len(stem) <= 5):
            return role
    return None


@functools.lru_cache(maxsize=8192)
def _plain(word: str) -> str:
    """A word without its accents: "despliégalo" as "despliegalo"."""
    return "".join(sign for sign in unicodedata.normalize("NFD", word) if not unicodedata.combining(sign))
